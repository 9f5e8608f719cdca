/*
 * Unix sockets of this run, see bound.h. Each file is kept open, so that its
 * inode's number cannot come to mean another one.
 */
#include "bound.h"

#include <linux/sockios.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "../../common/limits.h"

/* linux/un.h: the file that a socket is bound to, as O_PATH. */
#ifndef SIOCUNIXFILE
#define SIOCUNIXFILE (SIOCPROTOPRIVATE + 0)
#endif

struct bound_sockets {
	pthread_mutex_t lock;
	size_t count;
	struct bound_file {
		int fd;
		dev_t device;
		ino_t inode;
	} files[BOUND_SOCKETS_MAX];
};

int bound_open(struct bound_sockets **ret_bound)
{
	struct bound_sockets *bound = calloc(1, sizeof(*bound));

	if (!bound)
		return -ENOMEM;
	bound->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
	*ret_bound = bound;
	return 0;
}

/* Forgets files without a name: nobody can connect to them. */
static void forget_unlinked(struct bound_sockets *bound)
{
	struct stat file;
	size_t kept = 0;

	for (size_t i = 0; i < bound->count; i++) {
		if (fstat(bound->files[i].fd, &file) == 0 && file.st_nlink)
			bound->files[kept++] = bound->files[i];
		else
			close_quietly(bound->files[i].fd);
	}
	bound->count = kept;
}

static bool has_room(struct bound_sockets *bound)
{
	if (bound->count == BOUND_SOCKETS_MAX)
		forget_unlinked(bound);
	return bound->count < BOUND_SOCKETS_MAX;
}

bool bound_has_room(struct bound_sockets *bound)
{
	bool room;

	(void)pthread_mutex_lock(&bound->lock);
	room = has_room(bound);
	(void)pthread_mutex_unlock(&bound->lock);
	return room;
}

int bound_add(struct bound_sockets *bound, int socket)
{
	/*
	 * The socket knows its file; looking the path up again could find
	 * another one by now. Wants CAP_NET_ADMIN over the sandbox's network
	 * namespace, which is ours.
	 */
	AUTO_CLOSE int fd = ioctl(socket, SIOCUNIXFILE);
	struct stat file;
	int err = 0;

	if (fd < 0 || fstat(fd, &file))
		return -errno;
	(void)pthread_mutex_lock(&bound->lock);
	if (has_room(bound))
		bound->files[bound->count++] = (struct bound_file){
			.fd = TAKE(fd),
			.device = file.st_dev,
			.inode = file.st_ino,
		};
	else
		err = -ENOSPC;
	(void)pthread_mutex_unlock(&bound->lock);
	return err;
}

bool bound_has(struct bound_sockets *bound, const struct stat *file)
{
	bool found = false;

	(void)pthread_mutex_lock(&bound->lock);
	for (size_t i = 0; i < bound->count && !found; i++)
		found = bound->files[i].device == file->st_dev &&
			bound->files[i].inode == file->st_ino;
	(void)pthread_mutex_unlock(&bound->lock);
	return found;
}
