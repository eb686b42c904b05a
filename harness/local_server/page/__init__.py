"""What the pages of the server share: requests to it, elements, grades, and how controls look."""
