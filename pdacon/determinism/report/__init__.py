"""What is reported: findings, the report, and how they are shown.

In: messages, places and witnesses. Out: findings, reports, and both as text, trees, JSON, SARIF and annotations. The
room does not know how anything is found.
"""
