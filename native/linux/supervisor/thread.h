/* Threads of the supervisor: signals are for the main thread alone. */
#pragma once

#include <stddef.h>

#include "../../common/cordon.h"

/* Detached; stack_bytes 0: the system's usual size. -errno. */
MUST_CHECK int start_thread(void *(*run)(void *argument), void *argument,
			    size_t stack_bytes);
