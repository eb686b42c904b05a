"""
Two runs side by side, whatever they were read from or run on::

    text -> form -> side (contender) -> basis -> report

`forms` reads what the two are called, `reading` those in files, `live` those that have to be asked; `preparing` refuses
what cannot be before anything is asked. `basis` and `stored` say by which scores they are compared, `measuring` and
`queries` compare, `assembling` puts the report together. What is decided, `harness.gate` decides.
"""
