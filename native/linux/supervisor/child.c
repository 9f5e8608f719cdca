/* Children of the supervisor, see child.h. */
#include "child.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

int run_in_child(unsigned long flags, int (*act)(void *argument),
		 void *argument)
{
	/* No exit signal: main.c waits for its own child and no other. */
	pid_t child = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
	int status;

	if (child < 0)
		return -errno;
	if (child == 0) {
		/*
		 * It may become visible inside, and has what we have: nobody
		 * may attach to it. Nor may it outlive us, waiting for us.
		 */
		if (prctl(PR_SET_DUMPABLE, 0) ||
		    prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(errno);
		_exit(-act(argument));
	}
	if (RETRY(waitpid(child, &status, (int)__WCLONE)) != child)
		return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
}

void *allocate_shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}
