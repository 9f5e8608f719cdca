/*
 * bindRace NAME ROUNDS: binds sockets to link/NAME in two threads, while a
 * third exchanges what `link` leads to, ./sub or ".". Prints how often a bind
 * succeeded, failed, and left ./NAME behind. The working directory has ./sub.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static const char *name;
static int rounds;
static atomic_bool ended;
static atomic_uint bound, refused, astray;

static void *exchange(void *unused)
{
	for (unsigned n = 0; !ended; n++) {
		if (symlink(n % 2 ? "sub" : ".", "next") == 0)
			(void)rename("next", "link");
	}
	return unused;
}

static void *bind_often(void *unused)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char inside[sizeof(address.sun_path)];
	struct stat status;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "link/%s",
		       name);
	(void)snprintf(inside, sizeof(inside), "sub/%s", name);
	for (int i = 0; i < rounds; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
			refused++;
		else
			bound++;
		if (lstat(name, &status) == 0)
			astray++;
		(void)unlink(inside);
		(void)close(fd);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t exchanger, binders[2];

	if (argc != 3)
		return 2;
	name = argv[1];
	rounds = atoi(argv[2]);
	if (symlink("sub", "link") ||
	    pthread_create(&exchanger, NULL, exchange, NULL))
		return 1;
	for (int i = 0; i < 2; i++)
		if (pthread_create(&binders[i], NULL, bind_often, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		(void)pthread_join(binders[i], NULL);
	ended = true;
	(void)pthread_join(exchanger, NULL);
	(void)printf("%u bound, %u refused, %u astray\n", bound, refused,
		     astray);
	return 0;
}
