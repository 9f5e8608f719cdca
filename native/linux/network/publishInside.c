/*
 * The sandbox's side of a published port, see publishInside.h. Only a process
 * that is in a network namespace can make a socket there, and this one cannot
 * enter the sandbox's. So a child does, and leaves sockets, some in advance,
 * and the list of listeners in the descriptors that it shares with us.
 */
#include "publishInside.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "../../common/limits.h"
#include "../supervisor/child.h"
#include "network.h"
#include "publishList.h"

enum {
	FAMILIES = 2,
	LISTENERS_BYTES_MAX = 64 << 10, /* they come first in the list */
};

static const sa_family_t families[FAMILIES] = { AF_INET, AF_INET6 };
static const char *const lists[FAMILIES] = { "/proc/self/net/tcp",
					     "/proc/self/net/tcp6" };

struct inner_network {
	struct supervisor *sup;
	int lists[FAMILIES]; /* of that namespace, whoever reads them */
	struct stock {
		int fds[INSIDE_STOCK];
		size_t count;
	} stocks[FAMILIES];
};

/* Memory that a child shares with us. */
struct made {
	size_t family;
	int fds[INSIDE_STOCK];
};

static int open_lists(void *shared)
{
	struct made *made = shared;

	for (size_t i = 0; i < FAMILIES; i++) {
		made->fds[i] = open(lists[i], O_RDONLY | O_CLOEXEC);
		/* There is no second one where IPv6 is switched off. */
		if (made->fds[i] < 0 && i == 0)
			return -errno;
	}
	return 0;
}

static int make_sockets(void *shared)
{
	struct made *made = shared;

	for (size_t i = 0; i < INSIDE_STOCK; i++) {
		made->fds[i] =
			socket(families[made->family],
			       SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (made->fds[i] < 0)
			return i ? 0 : -errno; /* some will do */
	}
	return 0;
}

/* Runs `make` in there; *made is what it left. */
static int make_inside(struct supervisor *sup, int (*make)(void *shared),
		       struct made *made)
{
	struct made *shared = allocate_shared(sizeof(*shared));
	int err;

	if (!shared)
		return -errno;
	*shared = *made;
	for (size_t i = 0; i < INSIDE_STOCK; i++)
		shared->fds[i] = -1;
	err = network_run_inside(sup, make, shared);
	*made = *shared;
	(void)munmap(shared, sizeof(*shared));
	return err;
}

int inner_open(struct supervisor *sup, struct inner_network **ret_inner)
{
	struct inner_network *inner = calloc(1, sizeof(*inner));
	struct made made = { 0 };
	int err = inner ? 0 : -ENOMEM;

	if (!err)
		err = make_inside(sup, open_lists, &made);
	if (err) {
		free(inner);
		return err;
	}
	inner->sup = sup;
	memcpy(inner->lists, made.fds, sizeof(inner->lists));
	*ret_inner = inner;
	return 0;
}

int inner_take_socket(struct inner_network *inner, sa_family_t family,
		      int *ret_fd)
{
	size_t i = family == AF_INET ? 0 : 1;
	struct stock *stock = &inner->stocks[i];
	struct made made = { .family = i };
	int err;

	if (stock->count == 0) {
		err = make_inside(inner->sup, make_sockets, &made);
		if (err)
			return err;
		while (stock->count < INSIDE_STOCK &&
		       made.fds[stock->count] >= 0) {
			stock->fds[stock->count] = made.fds[stock->count];
			stock->count++;
		}
	}
	*ret_fd = stock->fds[--stock->count];
	return 0;
}

/* Who listens */

static int read_list(int fd, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	do {
		got = RETRY(pread(fd, text + length, size - 1 - length,
				  (off_t)length));
		if (got < 0)
			return -errno;
		length += (size_t)got;
	} while (got > 0 && length < size - 1);
	text[length] = '\0';
	return 0;
}

int inner_find(const struct inner_network *inner, uint16_t port,
	       struct ip_address *ret_address)
{
	AUTO_FREE char *text = malloc(LISTENERS_BYTES_MAX);
	int err = text ? -ENOENT : -ENOMEM;

	for (size_t i = 0; i < FAMILIES && err == -ENOENT; i++) {
		int failed;

		if (inner->lists[i] < 0)
			continue;
		failed = read_list(inner->lists[i], text, LISTENERS_BYTES_MAX);
		if (failed)
			err = failed;
		else if (find_listener(text, port, ret_address))
			err = 0;
	}
	return err;
}

size_t inner_count(const struct inner_network *inner, uint16_t port)
{
	AUTO_FREE char *text = malloc(LISTENERS_BYTES_MAX);
	struct ip_address address;
	size_t count = 0;

	for (size_t i = 0; text && i < FAMILIES; i++)
		if (inner->lists[i] >= 0 &&
		    read_list(inner->lists[i], text, LISTENERS_BYTES_MAX) == 0)
			count += find_listener(text, port, &address);
	return count;
}
