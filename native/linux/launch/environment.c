/*
 * The command's environment, see environment.h. Names decide, values are
 * not looked at. Never reads or changes this process's own environment.
 */
#include "environment.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "../../common/limits.h"

static bool matches(const struct strings *patterns, const char *name)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (fnmatch(patterns->at[i], name, 0) == 0)
			return true;
	return false;
}

static const struct planned_variable *find_set(const struct plan *plan,
					       const char *name)
{
	for (size_t i = 0; i < plan->set_count; i++)
		if (strcmp(plan->set[i].name, name) == 0)
			return &plan->set[i];
	return NULL;
}

/* Whether an inherited variable stays; entries without '=' do not. */
static bool stays(const struct plan *plan, const char *entry)
{
	const char *equals = strchr(entry, '=');
	const struct planned_variable *set;
	char name[256];
	size_t length;

	if (!equals || equals == entry)
		return false;
	length = (size_t)(equals - entry);
	if (length >= sizeof(name))
		return false; /* no pattern could be meant for it */
	memcpy(name, entry, length);
	name[length] = '\0';
	if (strcmp(name, "CORDON_BROKER") == 0)
		return false;
	set = find_set(plan, name);
	if (set && set->overwrite)
		return false;
	return !matches(&plan->drop, name) || matches(&plan->keep, name);
}

static bool is_there(char *const *environment, size_t count, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < count; i++)
		if (strncmp(environment[i], name, length) == 0 &&
		    environment[i][length] == '=')
			return true;
	return false;
}

static char *join(struct json_arena *arena, const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *entry = json_allocate(arena, size);

	if (entry)
		(void)snprintf(entry, size, "%s=%s", name, value);
	return entry;
}

int build_environment(const struct plan *plan, char *const *inherited,
		      struct json_arena *arena, char ***ret_environment)
{
	AUTO_FREE char **environment = NULL;
	size_t capacity = plan->set_count + 1, count = 0;

	for (char *const *entry = inherited; *entry; entry++)
		capacity++;
	environment = calloc(capacity, sizeof(*environment));
	if (!environment)
		return -ENOMEM;
	for (char *const *entry = inherited; *entry; entry++)
		if (stays(plan, *entry))
			environment[count++] = *entry;
	for (size_t i = 0; i < plan->set_count; i++) {
		const struct planned_variable *set = &plan->set[i];

		if (is_there(environment, count, set->name) ||
		    strcmp(set->name, "CORDON_BROKER") == 0)
			continue;
		environment[count] = join(arena, set->name, set->value);
		if (!environment[count++])
			return -ENOMEM;
	}
	*ret_environment = TAKE(environment);
	return 0;
}
