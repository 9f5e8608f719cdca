/*
 * The sandbox's view of the file system.
 *
 * We start with a private copy of the host's mounts. What is to stay
 * writable is cloned first, while it still is; then everything is made
 * read-only in place, and the clones are attached again where they came
 * from. Protected paths are cloned from the result, made read-only, and
 * attached on top; masks cover what must not be read. So the order in which
 * mounts are attached is the order of the plan, and later ones win.
 *
 * Mounts cannot be undone inside: that needs capabilities over this mount
 * namespace, which are dropped afterwards, and a nested user namespace gets
 * these mounts locked (mount_namespaces(7)).
 *
 * Paths are opened once, without following a symbolic link anywhere, and
 * used by descriptor from then on.
 */
#include "mounts.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "../../common/limits.h"
#include "../tripwire/tripwire.h"
#include "devices.h"
#include "gaps.h"
#include "tree.h"
#include "uapi.h"

enum mount_step {
	STEP_OPEN,
	STEP_PLACE,
	STEP_CLONE,
	STEP_LAYER,
	STEP_READ_ONLY,
	STEP_CREATE,
	STEP_ATTACH,
};

struct mount_failure {
	enum mount_step step;
	const char *path;
};

/* Small trees that many paths share, made when first wanted. */
struct shared_trees {
	int empty; /* attached somewhere: an empty read-only directory */
	int null;  /* attached somewhere: /dev/null, read-only */
};

/* What we wanted, around the path: "make" … "read-only". */
struct wish {
	const char *before, *after;
};

static const struct wish wishes[] = {
	[MOUNT_PRIVATE] = { "put a private directory at", "" },
	[MOUNT_WRITABLE] = { "open", " for writing" },
	[MOUNT_COPY_ON_WRITE] = { "put a private layer over", "" },
	[MOUNT_PIN] = { "pin", "" },
	[MOUNT_PROTECT] = { "make", " read-only" },
	[MOUNT_MASK] = { "hide", "" },
	[MOUNT_TRIPWIRE] = { "hide", "" },
	[MOUNT_GUARD] = { "make", " read-only" },
	[MOUNT_READABLE] = { "open", " for reading" },
};

static const char *explain(int err)
{
	switch (err) {
	case ELOOP:
		return "a part of the path is a symbolic link";
	case ENOSPC:
		return "the limit of mounts (fs.mount-max) is reached";
	default:
		return strerror(err);
	}
}

static _Noreturn void die_mount(enum mount_op op,
				const struct mount_failure *why, int err)
{
	static const char *const steps[] = {
		[STEP_OPEN] = "open",		[STEP_PLACE] = "mount point",
		[STEP_CLONE] = "clone",		[STEP_LAYER] = "layer",
		[STEP_READ_ONLY] = "read-only", [STEP_CREATE] = "create",
		[STEP_ATTACH] = "attach",
	};
	const struct wish *wish = &wishes[op];

	die_because("mounts", -err, explain(-err), "could not %s %s%s (%s)",
		    wish->before, why->path, wish->after, steps[why->step]);
}

static int fail(struct mount_failure *why, enum mount_step step)
{
	why->step = step;
	return -errno;
}

/* Before everything becomes read-only: what shall stay writable */

/* Descriptors as option values: no escaping, no second look at a path. */
static int set_layer(int context, const char *option, int fd)
{
	char link[32];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return fsconfig(context, FSCONFIG_SET_STRING, option, link, 0);
}

/*
 * "volatile": else the end of a run waits until the whole file system that
 * holds the layer is on disk. The kernel marks such a layer and refuses it
 * ever after, because the machine may have broken down meanwhile. The mark
 * goes: ours are caches, started anew after each boot (src/launch/layers.ts).
 */
static int make_volatile(int context, int work)
{
	if (unlinkat(work, "work/incompat/volatile/dirty", 0) &&
	    errno != ENOENT)
		return -1;
	if (unlinkat(work, "work/incompat/volatile", AT_REMOVEDIR) &&
	    errno != ENOENT)
		return -1;
	return fsconfig(context, FSCONFIG_SET_FLAG, "volatile", NULL, 0);
}

/*
 * The kernel makes its folders with mode 0 and needs none: it acts with our
 * capabilities. Whoever removes the layer later has no capability.
 */
static int make_removable(int work)
{
	static const char *const folders[] = {
		"work",
		"work/incompat",
		"work/incompat/volatile",
	};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (fchmodat(work, folders[i], 0700, 0))
			return -1;
	return 0;
}

/* An overlay that leaves mount->path alone, overlayfs(5) "userxattr". */
static int create_layer(const struct planned_mount *mount,
			struct mount_failure *why)
{
	AUTO_CLOSE int lower = -1;
	AUTO_CLOSE int upper = -1;
	AUTO_CLOSE int work = -1;
	AUTO_CLOSE int context = -1;
	int layer;

	lower = open_path(mount->path);
	if (lower < 0)
		return fail(why, STEP_OPEN);
	upper = open_path(mount->upper);
	if (upper < 0) {
		why->path = mount->upper;
		return fail(why, STEP_OPEN);
	}
	work = open_path(mount->work);
	if (work < 0) {
		why->path = mount->work;
		return fail(why, STEP_OPEN);
	}
	context = fsopen("overlay", FSOPEN_CLOEXEC);
	if (context < 0 || set_layer(context, "lowerdir", lower) ||
	    set_layer(context, "upperdir", upper) ||
	    set_layer(context, "workdir", work) ||
	    fsconfig(context, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) ||
	    make_volatile(context, work) ||
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) ||
	    make_removable(work))
		return fail(why, STEP_LAYER);
	layer = fsmount(context, FSMOUNT_CLOEXEC,
			MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	return layer < 0 ? fail(why, STEP_LAYER) : layer;
}

/* What needs the host's tree as it is before anything covers it. */
static int clone_host(const struct planned_mount *mount,
		      struct mount_failure *why)
{
	AUTO_CLOSE int fd = open_path(mount->path);
	int tree;

	if (fd < 0)
		return fail(why, STEP_OPEN);
	tree = clone_tree(fd);
	return tree < 0 ? fail(why, STEP_CLONE) : tree;
}

static bool is_whole_root(const struct planned_mount *mount)
{
	return mount->op == MOUNT_WRITABLE && mount->path[1] == '\0';
}

/* Fills trees[i] for the mounts that need the host's tree as it is now. */
static void clone_sources(const struct plan *plan, int *trees)
{
	for (size_t i = 0; i < plan->mount_count; i++) {
		const struct planned_mount *mount = &plan->mounts[i];
		struct mount_failure why = { .path = mount->path };

		trees[i] = -1;
		if (mount->op == MOUNT_READABLE ||
		    (mount->op == MOUNT_WRITABLE && !is_whole_root(mount))) {
			trees[i] = clone_host(mount, &why);
		} else if (mount->op == MOUNT_COPY_ON_WRITE) {
			trees[i] = create_layer(mount, &why);
		} else {
			continue;
		}
		if (trees[i] < 0)
			die_mount(mount->op, &why, trees[i]);
	}
}

static void make_root_read_only(const struct plan *plan)
{
	struct mount_attr attributes = {
		.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID,
	};

	for (size_t i = 0; i < plan->mount_count; i++)
		if (is_whole_root(&plan->mounts[i]))
			attributes.attr_set = MOUNT_ATTR_NOSUID;
	if (mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &attributes,
			  sizeof(attributes)))
		die("mounts", errno, "could not make / read-only");
}

/* The plan's mounts, in its order */

/*
 * Makes what is missing of `path` below a directory that is our own tmpfs;
 * nobody else is in there yet. The last part is a directory or a file.
 */
static int make_place(const char *path, const char *private, bool directory)
{
	AUTO_CLOSE int at = open_path(private);
	char name[NAME_MAX + 1];
	const char *rest = path + strlen(private);

	while (at >= 0 && *rest) {
		size_t length = strcspn(++rest, "/");
		bool last = rest[length] == '\0';
		int next;

		if (length > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, rest, length);
		name[length] = '\0';
		rest += length;
		if (!last || directory) {
			if (mkdirat(at, name, 0755) && errno != EEXIST)
				return -1;
		} else {
			next = openat(at, name,
				      O_CREAT | O_WRONLY | O_CLOEXEC |
					      O_NOFOLLOW,
				      0644);
			if (next < 0)
				return -1;
			close_quietly(next);
		}
		next = open_plain(at, name, O_PATH);
		close_quietly(at);
		at = next;
	}
	return TAKE(at);
}

/* Where mounts[index] goes; made when it lies below an earlier `private`. */
static int open_place(const struct plan *plan, size_t index, bool directory)
{
	const char *path = plan->mounts[index].path;
	int place = open_path(path);

	if (place >= 0 || errno != ENOENT)
		return place;
	for (size_t i = index; i-- > 0;) {
		const struct planned_mount *mount = &plan->mounts[i];

		if (mount->op == MOUNT_PRIVATE && is_below(path, mount->path))
			return make_place(path, mount->path, directory);
	}
	errno = ENOENT;
	return -1;
}

static bool is_directory(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISDIR(status.st_mode);
}

static int apply_tree(const struct plan *plan, size_t index, int tree,
		      struct mount_failure *why)
{
	enum mount_op op = plan->mounts[index].op;
	AUTO_CLOSE int place = open_place(plan, index, is_directory(tree));

	if (place < 0 && op == MOUNT_TRIPWIRE && errno == ENOENT)
		return 0;
	if (place < 0)
		return fail(why, STEP_PLACE);
	if (op == MOUNT_READABLE && make_read_only(tree))
		return fail(why, STEP_READ_ONLY);
	return attach_tree(tree, place) ? fail(why, STEP_ATTACH) : 0;
}

static int apply_private(const struct plan *plan, size_t index,
			 struct mount_failure *why)
{
	AUTO_CLOSE int place = open_place(plan, index, true);
	AUTO_CLOSE int tree = -1;
	struct stat status;
	char mode[8];

	if (place < 0)
		return fail(why, STEP_PLACE);
	if (fstat(place, &status))
		return fail(why, STEP_OPEN);
	if (!S_ISDIR(status.st_mode)) {
		why->step = STEP_PLACE;
		return -ENOTDIR;
	}
	(void)snprintf(mode, sizeof(mode), "%o",
		       (unsigned)status.st_mode & 07777);
	tree = create_tmpfs(mode);
	if (tree < 0)
		return fail(why, STEP_CREATE);
	return attach_tree(tree, place) ? fail(why, STEP_ATTACH) : 0;
}

static int apply_clone(int place, bool read_only, struct mount_failure *why)
{
	AUTO_CLOSE int tree = clone_tree(place);

	if (tree < 0)
		return fail(why, STEP_CLONE);
	if (read_only && make_read_only(tree))
		return fail(why, STEP_READ_ONLY);
	return attach_tree(tree, place) ? fail(why, STEP_ATTACH) : 0;
}

/*
 * The first mask makes the tree that all others are clones of: ten times
 * cheaper than a tmpfs each. Clones are taken from the attached one, since
 * cloning a detached tree needs Linux 6.15.
 */
static int apply_mask(int place, struct shared_trees *shared,
		      struct mount_failure *why)
{
	bool directory = is_directory(place);
	int *first = directory ? &shared->empty : &shared->null;
	AUTO_CLOSE int tree = -1;

	if (*first >= 0)
		tree = clone_tree(*first);
	else if (directory)
		tree = create_tmpfs("755");
	else
		tree = open_tree(AT_FDCWD, "/dev/null",
				 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0)
		return fail(why, STEP_CREATE);
	if (*first < 0 && make_read_only(tree))
		return fail(why, STEP_READ_ONLY);
	if (attach_tree(tree, place))
		return fail(why, STEP_ATTACH);
	if (*first < 0)
		*first = TAKE(tree);
	return 0;
}

static bool hides(const struct planned_mount *mount)
{
	return mount->op == MOUNT_MASK || mount->op == MOUNT_TRIPWIRE;
}

/* protect, pin, mask, tripwire: 0 also when the path is not there (any more).
 */
static int apply_cover(const struct planned_mount *mount,
		       struct shared_trees *shared, struct mount_failure *why)
{
	AUTO_CLOSE int place = open_path(mount->path);

	if (place < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	/* Nobody inside gets there either: it has no more rights. */
	if (place < 0 && errno == EACCES && hides(mount))
		return 0;
	if (place < 0)
		return fail(why, STEP_OPEN);
	if (hides(mount))
		return apply_mask(place, shared, why);
	return apply_clone(place, mount->op == MOUNT_PROTECT, why);
}

static void apply_mounts(const struct plan *plan, int *trees)
{
	struct shared_trees shared = { .empty = -1, .null = -1 };

	for (size_t i = 0; i < plan->mount_count; i++) {
		const struct planned_mount *mount = &plan->mounts[i];
		struct mount_failure why = { .path = mount->path };
		int err = 0;

		if (mount->op == MOUNT_PRIVATE)
			err = apply_private(plan, i, &why);
		else if (trees[i] >= 0)
			err = apply_tree(plan, i, trees[i], &why);
		else if (!is_whole_root(mount) && mount->op != MOUNT_GUARD)
			err = apply_cover(mount, &shared, &why);
		if (err)
			die_mount(mount->op, &why, err);
		close_quietly(TAKE(trees[i]));
	}
	close_quietly(shared.empty);
	close_quietly(shared.null);
}

/* /proc */

/*
 * User 0 of the initial namespace owns the files below these, capabilities
 * or not; nobody else can write there anyway.
 */
static void protect_proc(void)
{
	static const char *const paths[] = {
		"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus",
		"/proc/fs",
	};

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct mount_failure why = { .path = paths[i] };
		AUTO_CLOSE int place = open_path(paths[i]);
		int err;

		if (place < 0)
			continue; /* this kernel was built without it */
		err = apply_clone(place, true, &why);
		if (err)
			die_mount(MOUNT_PROTECT, &why, err);
	}
}

/*
 * Refused when parts of the surrounding /proc are covered, as in most
 * containers (mount_too_revealing() in fs/namespace.c). Then the
 * surrounding one stays, read-only.
 */
static bool mount_proc(const struct view *view)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		  NULL)) {
		if (errno == EPERM)
			return false;
		die("mounts", errno, "could not mount a new /proc");
	}
	if (view->owner_is_root)
		protect_proc();
	return true;
}

/* Resolver files */

/* Puts a file of ours, made in the folder `files`, over an existing one. */
static int overlay_file(int files, const char *path, const char *content)
{
	const char *name = strrchr(path, '/') + 1;
	AUTO_CLOSE int file = -1;
	AUTO_CLOSE int tree = -1;
	AUTO_CLOSE int place = -1;
	char real[PATH_MAX];

	/* Often a link into /run; a missing one means what we want anyway. */
	if (!realpath(path, real))
		return errno == ENOENT || errno == EACCES ? 0 : -errno;
	place = open_path(real);
	if (place < 0)
		return -errno;
	file = openat(files, name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
		      0644);
	if (file < 0)
		return -errno;
	write_all(file, content, strlen(content));
	if (fchmod(file, 0644)) /* whatever the umask is */
		return -errno;
	tree = open_tree(files, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	if (tree < 0 || make_read_only(tree) || attach_tree(tree, place))
		return -errno;
	return 0;
}

/*
 * All names go to the stub: those of the host's own hosts file as well, so
 * that rules see them as names. "search .": else the host name's domain
 * would be appended. No modules that ask a daemon over a unix socket.
 */
static void overlay_resolver(int files, const struct view *view)
{
	char hosts[HOST_NAME_MAX + 64];
	const char *const wanted[][2] = {
		{ "/etc/resolv.conf", "nameserver 127.0.0.1\nsearch .\n"
				      "options timeout:6 attempts:2\n" },
		{ "/etc/nsswitch.conf",
		  "passwd: files\ngroup: files\nshadow: files\n"
		  "hosts: files dns\nservices: files\nprotocols: files\n" },
		{ "/etc/hosts", hosts },
	};

	(void)snprintf(hosts, sizeof(hosts),
		       "127.0.0.1 localhost %s\n::1 localhost\n",
		       view->host_name);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		int err = overlay_file(files, wanted[i][0], wanted[i][1]);

		if (err)
			die("mounts", -err, "could not replace %s",
			    wanted[i][0]);
	}
}

/* The working directory we came with is still in the old, writable view. */
static void enter_directory(const char *directory)
{
	AUTO_CLOSE int fd =
		open_plain(AT_FDCWD, directory, O_PATH | O_DIRECTORY);

	if (fd < 0 || fchdir(fd))
		die("directory", errno, "could not enter %s", directory);
}

static void put_away(const struct plan *plan, int files)
{
	int err = tripwire_put_away(plan, files);

	if (err)
		die("mounts", -err, "could not put the tripwires away");
}

int isolate_filesystem(const struct plan *plan, const struct view *view)
{
	AUTO_FREE int *trees = calloc(plan->mount_count + 1, sizeof(*trees));
	AUTO_CLOSE int files = -1;
	struct devices devices;
	int gaps = 0;

	if (!trees)
		die("mounts", ENOMEM, "could not prepare the mounts");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("mounts", errno, "could not separate the mounts");
	clone_sources(plan, trees);
	clone_devices(view->terminal, &devices);
	make_root_read_only(plan);
	if (tripwire_clone_trees(plan, view->control, trees))
		gaps |= GAP_FUSE;
	apply_mounts(plan, trees);
	mount_dev(&devices, &files);
	if (!(gaps & GAP_FUSE))
		put_away(plan, files);
	if (!mount_proc(view))
		gaps |= GAP_PROC;
	overlay_resolver(files, view);
	close_dev();
	enter_directory(plan->directory);
	return gaps;
}
