/* Threads, see thread.h. */
#include "thread.h"

#include <pthread.h>
#include <signal.h>

int start_thread(void *(*run)(void *argument), void *argument,
		 size_t stack_bytes)
{
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int err;

	err = -pthread_attr_init(&attributes);
	if (err)
		return err;
	(void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (stack_bytes)
		(void)pthread_attr_setstacksize(&attributes, stack_bytes);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(&thread, &attributes, run, argument);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	return err;
}
