/* What this system can enforce, found out by trying. */
#pragma once

/* Prints one line of JSON; returns the exit code. */
int print_probe(void);
