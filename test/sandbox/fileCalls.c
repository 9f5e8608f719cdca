/*
 * fileCalls FOLDER - every call that changes files, in every variant, on
 * everything that a path can lead to; a line for each with what it returned
 * and what the folder looks like afterwards. Run twice, on the host and inside
 * of a boundary, it must print the same.
 *
 * The folder is made anew whenever a call has changed it.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_removexattrat 466
#endif

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *base; /* absolute */
static int base_fd;
static char long_name[300];  /* over NAME_MAX */
static char long_path[5000]; /* over PATH_MAX */
static char *unreadable;     /* an address that is not there */

static void stop(const char *what)
{
	perror(what);
	exit(1);
}

/* The folder */

static void put(const char *name, const char *text, mode_t mode)
{
	int fd = openat(base_fd, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 || fchmod(fd, mode))
		stop(name);
	close(fd);
}

static void make_folder(const char *name, mode_t mode)
{
	if (mkdirat(base_fd, name, 0700) || fchmodat(base_fd, name, mode, 0))
		stop(name);
}

static void make_link(const char *text, const char *name)
{
	if (symlinkat(text, base_fd, name))
		stop(name);
}

static void fill(void)
{
	char text[4096];

	(void)umask(022);
	put("file", "12345", 0644);
	put("other", "abc", 0640);
	put("readonly", "r", 0400);
	put("secret", "s", 0);
	put("caf\xe9", "bytes", 0644);
	make_folder("dir", 0755);
	put("dir/file", "in", 0600);
	make_folder("empty", 0755);
	make_folder("setgid", 02775);
	make_folder("closed", 0500);
	make_link("file", "link");
	make_link("absent", "dangling");
	make_link("dir", "dirlink");
	make_link("loop", "loop");
	make_link("dir/../other", "uplink");
	make_link("/dev/null", "null");
	make_link("dir/new", "intodir");
	(void)snprintf(text, sizeof(text), "%s/other", base);
	make_link(text, "absolute");
	(void)snprintf(text, sizeof(text), "../%s/other",
		       strrchr(base, '/') + 1);
	make_link(text, "around");
	if (mkfifoat(base_fd, "fifo", 0644))
		stop("fifo");
}

/*
 * Made once: a call can only take the last links of it away. 41 links are one
 * too many (path_resolution(7)). Of 21 to 40 the kernel says that now and then,
 * since it counts them again when it starts a walk anew.
 */
static void make_chain(void)
{
	char name[32], before[32] = "../file";

	if (mkdirat(base_fd, "steady", 0755) && errno != EEXIST)
		stop("steady");
	for (int i = 1; i <= 41; i++) {
		(void)snprintf(name, sizeof(name), "steady/chain%d", i);
		if (symlinkat(before, base_fd, name) && errno != EEXIST)
			stop(name);
		memcpy(before, name + strlen("steady/"),
		       sizeof(name) - strlen("steady/"));
	}
}

static void remove_all(int folder, const char *but)
{
	DIR *list = fdopendir(folder);
	struct dirent *entry;

	if (!list)
		stop("fdopendir");
	while ((entry = readdir(list))) {
		const char *name = entry->d_name;

		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
		    strcmp(name, but) == 0)
			continue;
		if (unlinkat(folder, name, 0) == 0)
			continue;
		(void)fchmodat(folder, name, 0700, 0);
		remove_all(openat(folder, name, O_RDONLY | O_DIRECTORY), "");
		if (unlinkat(folder, name, AT_REMOVEDIR))
			stop(name);
	}
	(void)closedir(list);
}

static void empty(const char *but)
{
	(void)umask(022);
	if (fchmod(base_fd, 0755) || fchmodat(base_fd, "..", 0755, 0))
		stop(base);
	(void)removexattr(".", "user.test");
	(void)removexattr("..", "user.test");
	remove_all(openat(base_fd, ".", O_RDONLY | O_DIRECTORY), but);
}

/* What the folder looks like */

static uint32_t mix(uint32_t hash, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ at[i]) * 16777619u;
	return hash;
}

static uint32_t look_at(int folder, const char *name)
{
	char text[512] = "";
	struct stat status;
	uint32_t hash = 2166136261u;
	ssize_t length = 0;
	int fd;

	if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW))
		return 0;
	hash = mix(hash, name, strlen(name));
	hash = mix(hash, &status.st_mode, sizeof(status.st_mode));
	hash = mix(hash, &status.st_nlink, sizeof(status.st_nlink));
	if (!S_ISDIR(status.st_mode))
		hash = mix(hash, &status.st_size, sizeof(status.st_size));
	if (status.st_mtime < 1000000)
		hash = mix(hash, &status.st_mtime, sizeof(status.st_mtime));
	if (S_ISLNK(status.st_mode))
		length = readlinkat(folder, name, text, sizeof(text));
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0 && S_ISREG(status.st_mode))
		length = read(fd, text, sizeof(text));
	if (fd >= 0 && fgetxattr(fd, "user.test", text + 256, 200) > 0)
		length = sizeof(text);
	if (fd >= 0)
		close(fd);
	return length > 0 ? mix(hash, text, (size_t)length) : hash;
}

static const char *const known[] = {
	"file",	      "other",		"readonly",
	"secret",     "caf\xe9",	"dir",
	"dir/file",   "empty",		"setgid",
	"closed",     "link",		"dangling",
	"dirlink",    "loop",		"uplink",
	"null",	      "intodir",	"absolute",
	"around",     "steady/chain20", "steady/chain41",
	"steady",     "fifo",		"absent",
	"new",	      "dir/new",	"setgid/new",
	"dir/absent", "empty/file",	"empty/new",
	"dir/dir",
};

static uint32_t look(void)
{
	uint32_t hash = 0;

	for (size_t i = 0; i < COUNT(known); i++)
		hash = hash * 31 + look_at(base_fd, known[i]);
	return hash;
}

static uint32_t untouched;

static void renew(void)
{
	if (look() == untouched)
		return;
	empty("steady");
	make_chain();
	fill();
	untouched = look();
}

/* Where a call is made: three ways to name the same */

struct name {
	int directory;
	const char *path;
};

enum style { RELATIVE, BY_DESCRIPTOR, ABSOLUTE, STYLES };
static const char *const style_names[] = { "", "@", "=" };

static struct name name_in(const char *path, enum style style, char *buffer)
{
	if (style == RELATIVE || path == unreadable || path == long_path)
		return (struct name){ AT_FDCWD, path };
	if (style == BY_DESCRIPTOR)
		return (struct name){ base_fd, path };
	if (!path[0] || path[0] == '/')
		return (struct name){ AT_FDCWD, path };
	(void)sprintf(buffer, "%s/%s", base, path);
	return (struct name){ AT_FDCWD, buffer };
}

static const char *const targets[] = {
	"file",
	"absent",
	"dir",
	"link",
	"dangling",
	"dirlink",
	"loop",
	"uplink",
	"null",
	"intodir",
	"absolute",
	"around",
	"steady/chain20",
	"steady/chain41",
	"file/",
	"absent/",
	"dir/",
	"link/",
	"dangling/",
	"dirlink/",
	"dir//",
	"dir/file",
	"dirlink/file",
	"dirlink/new",
	"dir/new",
	"absent/new",
	"file/new",
	"link/new",
	"loop/new",
	"dir/.",
	"dir/..",
	"dir/../file",
	".",
	"..",
	"./file",
	"",
	"/",
	"//",
	"/dev/null",
	"/dev/null/x",
	"fifo",
	"closed",
	"closed/new",
	"readonly",
	"secret",
	"caf\xe9",
	"empty",
	"setgid/new",
	"dir/../dir/new",
	"/proc/self/cwd/file",
	"/proc/self/fd/77",
	"/proc/self/absent",
	"dirlink/../file",
	"dir/absent/../file",
	long_name,
	long_path,
};

static const char *target_name(const char *target)
{
	if (target == long_name)
		return "<long name>";
	if (target == long_path)
		return "<long path>";
	if (target == unreadable)
		return "<unreadable>";
	return target;
}

/* errno by name where it matters here */
static const char *errno_text(long result, int err)
{
	static char number[16];
	const char *name = result < 0 ? strerrorname_np(err) : "ok";

	if (name)
		return name;
	(void)snprintf(number, sizeof(number), "E%d", err);
	return number;
}

static void report(const char *call, enum style style, const char *target,
		   const char *second, long result, int err, const char *more)
{
	(void)printf("%s %s%s%s%s: %s%s", call, style_names[style],
		     target_name(target), second ? " " : "",
		     second ? target_name(second) : "", errno_text(result, err),
		     more);
	if (look() != untouched)
		(void)printf(" -> %08x", look());
	(void)putchar('\n');
	renew();
}

/* open(2) */

struct opening {
	const char *name;
	int flags;
};

static const struct opening openings[] = {
	{ "WRONLY", O_WRONLY },
	{ "RDWR", O_RDWR },
	{ "both", O_WRONLY | O_RDWR },
	{ "WRONLY|APPEND", O_WRONLY | O_APPEND },
	{ "WRONLY|TRUNC", O_WRONLY | O_TRUNC },
	{ "RDONLY|TRUNC", O_RDONLY | O_TRUNC },
	{ "WRONLY|NOFOLLOW", O_WRONLY | O_NOFOLLOW },
	{ "WRONLY|DIRECTORY", O_WRONLY | O_DIRECTORY },
	{ "WRONLY|NOCTTY|NOATIME", O_WRONLY | O_NOCTTY | O_NOATIME },
	{ "RDONLY|CREAT", O_RDONLY | O_CREAT },
	{ "WRONLY|CREAT", O_WRONLY | O_CREAT },
	{ "RDWR|CREAT|CLOEXEC", O_RDWR | O_CREAT | O_CLOEXEC },
	{ "WRONLY|CREAT|TRUNC", O_WRONLY | O_CREAT | O_TRUNC },
	{ "WRONLY|CREAT|EXCL", O_WRONLY | O_CREAT | O_EXCL },
	{ "WRONLY|CREAT|EXCL|NOFOLLOW",
	  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW },
	{ "WRONLY|CREAT|NOFOLLOW", O_WRONLY | O_CREAT | O_NOFOLLOW },
	{ "WRONLY|CREAT|APPEND|SYNC", O_WRONLY | O_CREAT | O_APPEND | O_SYNC },
	{ "WRONLY|CREAT|NONBLOCK", O_WRONLY | O_CREAT | O_NONBLOCK },
	{ "CREAT|DIRECTORY", O_RDONLY | O_CREAT | O_DIRECTORY },
	{ "WRONLY|EXCL", O_WRONLY | O_EXCL },
	{ "PATH|CREAT", O_PATH | O_CREAT },
	{ "TMPFILE|RDWR", O_TMPFILE | O_RDWR },
	{ "TMPFILE|WRONLY|EXCL", O_TMPFILE | O_WRONLY | O_EXCL },
	{ "TMPFILE|RDONLY", O_TMPFILE | O_RDONLY },
	{ "TMPFILE without DIRECTORY", (O_TMPFILE & ~O_DIRECTORY) | O_RDWR },
	{ "WRONLY|unknown bits", O_WRONLY | O_CREAT | 0x40000000 },
};

/* A FIFO that nobody reads is waited for. */
static bool would_wait(const char *target, int flags)
{
	return strcmp(target, "fifo") == 0 && (flags & O_ACCMODE) != O_RDWR &&
	       (flags & O_ACCMODE) != 3 && !(flags & O_NONBLOCK);
}

static void describe(int fd, char *more, size_t size)
{
	struct stat status = { 0 };
	/* What is synchronous is slow, and no different. */
	bool writes = !(fcntl(fd, F_GETFL) & O_SYNC & ~O_DSYNC);
	ssize_t written = writes ? write(fd, "w", 1) : 0;

	(void)fstat(fd, &status);
	(void)snprintf(more, size, " flags %o close %d mode %o wrote %zd",
		       (unsigned)fcntl(fd, F_GETFL), fcntl(fd, F_GETFD),
		       status.st_mode, written);
}

static void try_opens(const char *target, unsigned turn)
{
	char buffer[8192], more[128];

	for (size_t i = 0; i < COUNT(openings); i++) {
		enum style style = (turn + i) % STYLES;
		struct name name = name_in(target, style, buffer);
		int fd, err;

		if (would_wait(target, openings[i].flags))
			continue;
		fd = (int)syscall(SYS_openat, name.directory, name.path,
				  openings[i].flags, 0666);
		err = errno;
		more[0] = '\0';
		if (fd >= 0)
			describe(fd, more, sizeof(more));
		if (fd >= 0)
			close(fd);
		report(openings[i].name, style, target, NULL, fd, err, more);
	}
}

static void try_modes(void)
{
	static const mode_t masks[] = { 0, 022, 027, 077, 0777 };
	static const mode_t modes[] = { 0666, 0777, 0600, 07777, 0, 0170777 };
	char call[64];
	long result;

	for (size_t m = 0; m < COUNT(masks); m++)
		for (size_t i = 0; i < COUNT(modes); i++) {
			(void)umask(masks[m]);
			result = syscall(SYS_openat, AT_FDCWD, "new",
					 O_WRONLY | O_CREAT, modes[i]);
			(void)sprintf(call, "open %o umask %o", modes[i],
				      masks[m]);
			if (result >= 0)
				close((int)result);
			report(call, RELATIVE, "new", NULL, result, errno, "");
			(void)umask(masks[m]);
			result = syscall(SYS_mkdirat, AT_FDCWD, "setgid/new",
					 modes[i]);
			(void)sprintf(call, "mkdir %o umask %o", modes[i],
				      masks[m]);
			report(call, RELATIVE, "setgid/new", NULL, result,
			       errno, "");
			(void)umask(masks[m]);
			result = syscall(SYS_mknodat, AT_FDCWD, "new", modes[i],
					 0);
			(void)sprintf(call, "mknod %o umask %o", modes[i],
				      masks[m]);
			report(call, RELATIVE, "new", NULL, result, errno, "");
		}
	(void)umask(022);
}

/* Calls with one path */

static long do_mkdir(struct name n)
{
	return syscall(SYS_mkdirat, n.directory, n.path, 0777);
}

static long do_unlink(struct name n)
{
	return syscall(SYS_unlinkat, n.directory, n.path, 0);
}

static long do_rmdir(struct name n)
{
	return syscall(SYS_unlinkat, n.directory, n.path, AT_REMOVEDIR);
}

static long do_unlink_wrong(struct name n)
{
	return syscall(SYS_unlinkat, n.directory, n.path, 0x1);
}

static long do_symlink(struct name n)
{
	return syscall(SYS_symlinkat, "a/text", n.directory, n.path);
}

static long do_symlink_empty(struct name n)
{
	return syscall(SYS_symlinkat, "", n.directory, n.path);
}

static long do_mkfifo(struct name n)
{
	return syscall(SYS_mknodat, n.directory, n.path, S_IFIFO | 0644, 0);
}

static long do_mknod_socket(struct name n)
{
	return syscall(SYS_mknodat, n.directory, n.path, S_IFSOCK | 0644, 0);
}

static long do_mknod_device(struct name n)
{
	return syscall(SYS_mknodat, n.directory, n.path, S_IFCHR | 0644, 0x103);
}

static long do_mknod_folder(struct name n)
{
	return syscall(SYS_mknodat, n.directory, n.path, S_IFDIR | 0644, 0);
}

static long do_truncate(struct name n)
{
	return n.directory == AT_FDCWD ? truncate(n.path, 2) : 0;
}

static long do_truncate_negative(struct name n)
{
	return n.directory == AT_FDCWD ? truncate(n.path, -1) : 0;
}

static long do_chmod(struct name n)
{
	return syscall(SYS_fchmodat, n.directory, n.path, 0751);
}

static long do_chmod_setgid(struct name n)
{
	return syscall(SYS_fchmodat, n.directory, n.path, 06755);
}

static long do_chmod_nofollow(struct name n)
{
	return syscall(SYS_fchmodat2, n.directory, n.path, 0711,
		       AT_SYMLINK_NOFOLLOW);
}

static long do_chmod_empty(struct name n)
{
	return syscall(SYS_fchmodat2, n.directory, n.path, 0711, AT_EMPTY_PATH);
}

static long do_chmod_wrong(struct name n)
{
	return syscall(SYS_fchmodat2, n.directory, n.path, 0711, AT_REMOVEDIR);
}

static long do_chown(struct name n)
{
	return fchownat(n.directory, n.path, getuid(), getgid(), 0);
}

static long do_chown_nobody(struct name n)
{
	return fchownat(n.directory, n.path, (uid_t)-1, (gid_t)-1,
			AT_SYMLINK_NOFOLLOW);
}

static long do_chown_root(struct name n)
{
	return fchownat(n.directory, n.path, 0, (gid_t)-1, AT_SYMLINK_NOFOLLOW);
}

static const struct timespec past[2] = { { 1000, 1 }, { 2000, 2 } };

static long do_utimens(struct name n)
{
	return syscall(SYS_utimensat, n.directory, n.path, past, 0);
}

static long do_utimens_nofollow(struct name n)
{
	return syscall(SYS_utimensat, n.directory, n.path, past,
		       AT_SYMLINK_NOFOLLOW);
}

static long do_utimens_now(struct name n)
{
	return syscall(SYS_utimensat, n.directory, n.path, NULL, 0);
}

static long do_utimens_wrong(struct name n)
{
	static const struct timespec wrong[2] = { { 0, -5 }, { 0, 0 } };

	return syscall(SYS_utimensat, n.directory, n.path, wrong, 0);
}

static long do_utimens_omit(struct name n)
{
	static const struct timespec omit[2] = { { 0, UTIME_OMIT },
						 { 3000, 0 } };

	return syscall(SYS_utimensat, n.directory, n.path, omit, 0);
}

static long do_setxattr(struct name n)
{
	return n.directory == AT_FDCWD
		       ? setxattr(n.path, "user.test", "v", 1, 0)
		       : 0;
}

static long do_lsetxattr(struct name n)
{
	return n.directory == AT_FDCWD
		       ? lsetxattr(n.path, "user.test", "v", 1, XATTR_CREATE)
		       : 0;
}

static long do_setxattr_replace(struct name n)
{
	return n.directory == AT_FDCWD
		       ? setxattr(n.path, "user.test", "v", 1, XATTR_REPLACE)
		       : 0;
}

static long do_setxattr_trusted(struct name n)
{
	return n.directory == AT_FDCWD
		       ? setxattr(n.path, "trusted.test", "v", 1, 0)
		       : 0;
}

static long do_setxattr_unknown(struct name n)
{
	return n.directory == AT_FDCWD ? setxattr(n.path, "no.test", "v", 1, 0)
				       : 0;
}

static long do_setxattr_empty(struct name n)
{
	return n.directory == AT_FDCWD ? setxattr(n.path, "", "v", 1, 0) : 0;
}

static long do_setxattr_huge(struct name n)
{
	return n.directory == AT_FDCWD ? syscall(SYS_setxattr, n.path,
						 "user.test", "v", 1 << 20, 0)
				       : 0;
}

static long do_removexattr(struct name n)
{
	return n.directory == AT_FDCWD ? removexattr(n.path, "user.test") : 0;
}

static long do_lremovexattr(struct name n)
{
	return n.directory == AT_FDCWD ? lremovexattr(n.path, "user.none") : 0;
}

static long do_setxattrat(struct name n)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} a = { (uintptr_t) "v", 1, 0 };

	return syscall(SYS_setxattrat, n.directory, n.path, 0, "user.test", &a,
		       sizeof(a));
}

#if defined(__x86_64__)
static long do_open_old(struct name n)
{
	long fd = n.directory == AT_FDCWD
			  ? syscall(SYS_open, n.path,
				    O_WRONLY | O_CREAT | O_NONBLOCK, 0640)
			  : -1;

	if (fd >= 0)
		close((int)fd);
	return fd;
}

static long do_creat_old(struct name n)
{
	long fd = n.directory == AT_FDCWD && !strstr(n.path, "fifo")
			  ? syscall(SYS_creat, n.path, 0640)
			  : -1;

	if (fd >= 0)
		close((int)fd);
	return fd;
}

static long do_mkdir_old(struct name n)
{
	return n.directory == AT_FDCWD ? syscall(SYS_mkdir, n.path, 0750) : 0;
}

static long do_rmdir_old(struct name n)
{
	return n.directory == AT_FDCWD ? syscall(SYS_rmdir, n.path) : 0;
}

static long do_unlink_old(struct name n)
{
	return n.directory == AT_FDCWD ? syscall(SYS_unlink, n.path) : 0;
}

static long do_chmod_old(struct name n)
{
	return n.directory == AT_FDCWD ? syscall(SYS_chmod, n.path, 0700) : 0;
}

static long do_chown_old(struct name n)
{
	return n.directory == AT_FDCWD ? syscall(SYS_chown, n.path, -1, -1) : 0;
}

static long do_lchown_old(struct name n)
{
	return n.directory == AT_FDCWD ? syscall(SYS_lchown, n.path, -1, -1)
				       : 0;
}

static long do_utime(struct name n)
{
	struct utimbuf times = { 5, 6 };

	return n.directory == AT_FDCWD ? syscall(SYS_utime, n.path, &times) : 0;
}

static long do_utimes(struct name n)
{
	struct timeval times[2] = { { 5, 7 }, { 8, 9 } };

	return n.directory == AT_FDCWD ? syscall(SYS_utimes, n.path, times) : 0;
}

static long do_utimes_wrong(struct name n)
{
	struct timeval times[2] = { { 5, 1000000 }, { 8, 9 } };

	return n.directory == AT_FDCWD ? syscall(SYS_utimes, n.path, times) : 0;
}

static long do_futimesat(struct name n)
{
	return syscall(SYS_futimesat, n.directory, n.path, NULL);
}
#endif

static const struct {
	const char *name;
	long (*make)(struct name name);
} calls[] = {
	{ "mkdir", do_mkdir },
	{ "unlink", do_unlink },
	{ "rmdir", do_rmdir },
	{ "unlink flag", do_unlink_wrong },
	{ "symlink", do_symlink },
	{ "symlink of nothing", do_symlink_empty },
	{ "mkfifo", do_mkfifo },
	{ "mknod socket", do_mknod_socket },
	{ "mknod device", do_mknod_device },
	{ "mknod folder", do_mknod_folder },
	{ "truncate", do_truncate },
	{ "truncate negative", do_truncate_negative },
	{ "chmod", do_chmod },
	{ "chmod setgid", do_chmod_setgid },
	{ "chmod nofollow", do_chmod_nofollow },
	{ "chmod empty", do_chmod_empty },
	{ "chmod flag", do_chmod_wrong },
	{ "chown own", do_chown },
	{ "chown nobody", do_chown_nobody },
	{ "chown root", do_chown_root },
	{ "utimens", do_utimens },
	{ "utimens nofollow", do_utimens_nofollow },
	{ "utimens now", do_utimens_now },
	{ "utimens wrong", do_utimens_wrong },
	{ "utimens omit", do_utimens_omit },
	{ "setxattr", do_setxattr },
	{ "lsetxattr", do_lsetxattr },
	{ "setxattr replace", do_setxattr_replace },
	{ "setxattr trusted", do_setxattr_trusted },
	{ "setxattr unknown", do_setxattr_unknown },
	{ "setxattr empty", do_setxattr_empty },
	{ "setxattr huge", do_setxattr_huge },
	{ "removexattr", do_removexattr },
	{ "lremovexattr", do_lremovexattr },
	{ "setxattrat", do_setxattrat },
#if defined(__x86_64__)
	{ "open(2)", do_open_old },
	{ "creat(2)", do_creat_old },
	{ "mkdir(2)", do_mkdir_old },
	{ "rmdir(2)", do_rmdir_old },
	{ "unlink(2)", do_unlink_old },
	{ "chmod(2)", do_chmod_old },
	{ "chown(2)", do_chown_old },
	{ "lchown(2)", do_lchown_old },
	{ "utime(2)", do_utime },
	{ "utimes(2)", do_utimes },
	{ "utimes(2) wrong", do_utimes_wrong },
	{ "futimesat(2)", do_futimesat },
#endif
};

static void try_calls(const char *target, unsigned turn)
{
	char buffer[8192];

	/* A device of the host's is no place to try these on. */
	if (strcmp(target, "null") == 0 || strcmp(target, "/dev/null") == 0)
		return;
	for (size_t i = 0; i < COUNT(calls); i++) {
		/* Calls without a folder's descriptor are in all turns but one.
		 */
		enum style style = (turn + i) % STYLES;
		long result = calls[i].make(name_in(target, style, buffer));

		report(calls[i].name, style, target, NULL, result, errno, "");
	}
}

static void try_target(const char *target, unsigned turn)
{
	try_opens(target, turn);
	try_calls(target, turn);
}

/* Calls with two paths */

static long do_rename(struct name a, struct name b)
{
	return syscall(SYS_renameat2, a.directory, a.path, b.directory, b.path,
		       0);
}

static long do_rename_noreplace(struct name a, struct name b)
{
	return syscall(SYS_renameat2, a.directory, a.path, b.directory, b.path,
		       RENAME_NOREPLACE);
}

static long do_exchange(struct name a, struct name b)
{
	return syscall(SYS_renameat2, a.directory, a.path, b.directory, b.path,
		       RENAME_EXCHANGE);
}

static long do_rename_wrong(struct name a, struct name b)
{
	return syscall(SYS_renameat2, a.directory, a.path, b.directory, b.path,
		       RENAME_EXCHANGE | RENAME_NOREPLACE);
}

static long do_link(struct name a, struct name b)
{
	return syscall(SYS_linkat, a.directory, a.path, b.directory, b.path, 0);
}

static long do_link_follow(struct name a, struct name b)
{
	return syscall(SYS_linkat, a.directory, a.path, b.directory, b.path,
		       AT_SYMLINK_FOLLOW);
}

static const struct {
	const char *name;
	long (*make)(struct name from, struct name to);
} pair_calls[] = {
	{ "rename", do_rename },
	{ "rename noreplace", do_rename_noreplace },
	{ "exchange", do_exchange },
	{ "rename flags", do_rename_wrong },
	{ "link", do_link },
	{ "link follow", do_link_follow },
};

static const char *const pair_targets[] = {
	"file",	      "absent",	    "dir",	"link",	    "dangling",
	"dirlink",    "file/",	    "dir/",	"dir/file", "dirlink/new",
	"dir/new",    "absent/new", "file/new", "empty",    "empty/",
	"empty/new",  ".",	    "..",	"",	    "/",
	"closed/new", long_name,    "loop",	"other",
};

static void try_pairs(void)
{
	char first[8192], second[8192];

	for (size_t a = 0; a < COUNT(pair_targets); a++)
		for (size_t b = 0; b < COUNT(pair_targets); b++)
			for (size_t i = 0; i < COUNT(pair_calls); i++) {
				enum style style = (a + b + i) % STYLES;
				long result = pair_calls[i].make(
					name_in(pair_targets[a], style, first),
					name_in(pair_targets[b], style,
						second));

				report(pair_calls[i].name, style,
				       pair_targets[a], pair_targets[b], result,
				       errno, "");
			}
}

/* By descriptor */

static void try_descriptor(const char *what, int fd)
{
	long result = fchmod(fd, 0710);

	report("fchmod", RELATIVE, what, NULL, result, errno, "");
	result = fchown(fd, (uid_t)-1, (gid_t)-1);
	report("fchown", RELATIVE, what, NULL, result, errno, "");
	result = fchown(fd, 0, 0);
	report("fchown root", RELATIVE, what, NULL, result, errno, "");
	result = fsetxattr(fd, "user.test", "v", 1, 0);
	report("fsetxattr", RELATIVE, what, NULL, result, errno, "");
	result = fremovexattr(fd, "user.test");
	report("fremovexattr", RELATIVE, what, NULL, result, errno, "");
	result = futimens(fd, past);
	report("futimens", RELATIVE, what, NULL, result, errno, "");
	result = syscall(SYS_utimensat, fd, "", past, AT_EMPTY_PATH);
	report("utimensat empty", RELATIVE, what, NULL, result, errno, "");
	result = fchownat(fd, "", getuid(), getgid(), AT_EMPTY_PATH);
	report("fchownat empty", RELATIVE, what, NULL, result, errno, "");
	result = syscall(SYS_fchmodat2, fd, "", 0700, AT_EMPTY_PATH);
	report("fchmodat2 empty", RELATIVE, what, NULL, result, errno, "");
	result = syscall(SYS_mkdirat, fd, "new", 0755);
	report("mkdirat", RELATIVE, what, NULL, result, errno, "");
	result = syscall(SYS_openat, fd, "new", O_CREAT | O_WRONLY, 0755);
	if (result >= 0)
		close((int)result);
	report("openat", RELATIVE, what, NULL, result, errno, "");
}

static void try_link_of(const char *what, int fd)
{
	char path[64];
	long result;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	result = linkat(AT_FDCWD, path, base_fd, "new", AT_SYMLINK_FOLLOW);
	report("link of /proc/self/fd", RELATIVE, what, NULL, result, errno,
	       "");
	result = chmod(path, 0705);
	report("chmod of /proc/self/fd", RELATIVE, what, NULL, result, errno,
	       "");
	result = open(path, O_WRONLY | O_TRUNC | O_NONBLOCK);
	if (result >= 0)
		close((int)result);
	report("open of /proc/self/fd", RELATIVE, what, NULL, result, errno,
	       "");
}

static void try_descriptors(void)
{
	static const struct {
		const char *what, *path;
		int flags;
	} opened[] = {
		{ "fd reading", "file", O_RDONLY },
		{ "fd writing", "other", O_WRONLY },
		{ "fd path", "file", O_PATH },
		{ "fd link", "link", O_PATH | O_NOFOLLOW },
		{ "fd folder", "dir", O_RDONLY },
		{ "fd folder path", "dir", O_PATH },
		{ "fd unnamed", ".", O_TMPFILE | O_RDWR },
		{ "fd unnamed for good", ".", O_TMPFILE | O_RDWR | O_EXCL },
	};
	int ends[2];

	for (size_t i = 0; i < COUNT(opened); i++) {
		int fd = openat(base_fd, opened[i].path, opened[i].flags, 0600);

		try_descriptor(opened[i].what, fd);
		close(fd);
		fd = openat(base_fd, opened[i].path, opened[i].flags, 0600);
		try_link_of(opened[i].what, fd);
		close(fd);
	}
	if (pipe(ends))
		stop("pipe");
	try_descriptor("fd pipe", ends[1]);
	try_link_of("fd pipe", ends[1]);
	try_descriptor("fd none", 9999);
	try_descriptor("fd -1", -1);
}

/* Odds and ends */

static void try_limits(void)
{
	struct rlimit before, files = { 3, 3 }, size = { 100, 100 };
	long result;

	if (getrlimit(RLIMIT_NOFILE, &before))
		stop("getrlimit");
	files.rlim_max = before.rlim_max;
	files.rlim_cur = (rlim_t)dup(0);
	close((int)files.rlim_cur);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	result = openat(AT_FDCWD, "file", O_WRONLY);
	(void)setrlimit(RLIMIT_NOFILE, &before);
	report("open at the limit", RELATIVE, "file", NULL, result, errno, "");
	if (fork() == 0) {
		(void)signal(SIGXFSZ, SIG_IGN);
		(void)setrlimit(RLIMIT_FSIZE, &size);
		result = truncate("file", 1000);
		_exit(result ? errno : 0);
	}
	(void)wait((int *)&result);
	report("truncate over the limit", RELATIVE, "file", NULL, 0, 0,
	       strerrorname_np(WEXITSTATUS((int)result)));
}

static void try_deleted_folder(void)
{
	long result;

	if (mkdirat(base_fd, "new", 0755) || chdir("new") ||
	    unlinkat(base_fd, "new", AT_REMOVEDIR))
		stop("new");
	result = open("x", O_WRONLY | O_CREAT, 0644);
	report("open in a deleted folder", RELATIVE, "x", NULL, result, errno,
	       "");
	if (mkdirat(base_fd, "new", 0755) || fchdir(base_fd) || chdir("new") ||
	    unlinkat(base_fd, "new", AT_REMOVEDIR))
		stop("new");
	result = mkdir("x", 0755);
	report("mkdir in a deleted folder", RELATIVE, "x", NULL, result, errno,
	       "");
	(void)!chdir(base);
}

static void try_unreadable(void)
{
	long result;

	result = open(unreadable, O_WRONLY);
	report("open", RELATIVE, unreadable, NULL, result, errno, "");
	result = mkdir(unreadable, 0755);
	report("mkdir", RELATIVE, unreadable, NULL, result, errno, "");
	result = rename("file", unreadable);
	report("rename", RELATIVE, "file", unreadable, result, errno, "");
	result = rename(unreadable, "file");
	report("rename", RELATIVE, unreadable, "file", result, errno, "");
	result = symlink(unreadable, "new");
	report("symlink", RELATIVE, unreadable, "new", result, errno, "");
	result = syscall(SYS_utimensat, AT_FDCWD, "file", unreadable, 0);
	report("utimens", RELATIVE, "file", unreadable, result, errno, "");
	result = setxattr("file", unreadable, "v", 1, 0);
	report("setxattr", RELATIVE, "file", unreadable, result, errno, "");
	result = setxattr("file", "user.x", unreadable, 1, 0);
	report("setxattr value", RELATIVE, "file", unreadable, result, errno,
	       "");
}

static void prepare(void)
{
	memset(long_name, 'n', sizeof(long_name) - 1);
	for (size_t i = 0; i + 2 < sizeof(long_path); i += 2)
		memcpy(long_path + i, "./", 2);
	unreadable =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	base_fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base_fd < 0 || chdir(base) || unreadable == MAP_FAILED)
		stop(base);
	empty("");
	make_chain();
	fill();
	untouched = look();
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	base = argv[1];
	prepare();
	for (size_t i = 0; i < COUNT(targets); i++)
		try_target(targets[i], (unsigned)i);
	try_modes();
	try_pairs();
	try_descriptors();
	try_unreadable();
	try_limits();
	try_deleted_folder();
	empty("");
	return 0;
}
