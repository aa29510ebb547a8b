"""Error-tolerant attribution: what each sentence rests on, also when it is wrong.

Source: Error-tolerant attribution 3 to 7, A.2.
"""
