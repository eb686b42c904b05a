"""Opens a page in the browser of who started the command."""

from __future__ import annotations

import webbrowser


def open_browser(url: str) -> bool:
    """Open *url* in a browser with a window, not one in the terminal; returns whether that succeeded."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    # The class of browsers in the terminal, such as lynx, which would take it over.
    if type(browser) is webbrowser.GenericBrowser:
        return False
    return browser.open(url)
