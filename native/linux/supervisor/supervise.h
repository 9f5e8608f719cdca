/* What the launcher does once the sandbox's pid 1 has been cloned. */
#pragma once

#include "supervisor.h"

/*
 * Supervises the run to its end and exits with its code. sup has its plan,
 * broker channel, control socket and pid 1.
 */
_Noreturn void supervise(struct supervisor *sup, const bool is_terminal[3]);
