// Caches of tool chains in the home folder. `private`: an existing one is covered by a copy-on-write layer, so that it is warm
// and stays unchanged; for one that is missing the tool is pointed to an empty folder of the workspace's own. Programs and
// configuration that lie beside a cache (`~/.cargo/bin`) stay read-only, so that one run cannot prepare the next.

import type { AbsolutePath } from '../policy/paths.js';
import { contains, innermost } from '../policy/paths.js';
import type { CachesMode } from '../policy/policy.js';
import { below } from '../policy/writtenPaths.js';
import type { Facts, PlannedRun } from './host.js';
import { targetOf } from './host.js';
import type { Mount, PlannedEnvironment } from './plan.js';

interface ToolCache {
  readonly name: string;
  /** Below the home folder. */
  readonly location: string;
  /** Points the tool to another folder, when there is nothing at the location. */
  readonly elsewhere: Readonly<Record<string, (folder: string) => string>>;
  /** Set in any case, for the folder in use. */
  readonly always?: Readonly<Record<string, (folder: string) => string>>;
  /** Below the location, read-only also in a private layer. */
  readonly readOnly?: readonly string[];
  /** Below the location: all that `shared` opens. Default: the location. */
  readonly shared?: readonly string[];
}

const itself = (folder: string): string => folder;

const toolCaches: readonly ToolCache[] = [
  // pip, uv, poetry, go build, yarn, node-gyp, corepack, ccache, deno, playwright, pre-commit, composer, coursier, …
  { name: 'cache', location: '.cache', elsewhere: { XDG_CACHE_HOME: itself } },
  { name: 'npm', location: '.npm', elsewhere: { npm_config_cache: itself } },
  {
    name: 'pnpm',
    location: '.local/share/pnpm',
    elsewhere: { PNPM_HOME: itself },
    // Hard links from one mount to another fail, and pnpm without a store folder then makes one in the project.
    always: {
      npm_config_store_dir: (folder) => `${folder}/store`,
      pnpm_config_store_dir: (folder) => `${folder}/store`,
    },
    shared: ['store'],
  },
  { name: 'yarn', location: '.yarn', elsewhere: { YARN_GLOBAL_FOLDER: itself }, shared: ['berry'] },
  {
    name: 'bun',
    location: '.bun',
    elsewhere: { BUN_INSTALL_CACHE_DIR: itself },
    readOnly: ['bin'],
    shared: ['install/cache'],
  },
  {
    name: 'cargo',
    location: '.cargo',
    elsewhere: { CARGO_HOME: itself },
    readOnly: ['bin', 'config', 'config.toml', 'env'],
    shared: ['registry', 'git'],
  },
  { name: 'go', location: 'go/pkg', elsewhere: { GOPATH: itself } },
  {
    name: 'gradle',
    location: '.gradle',
    elsewhere: { GRADLE_USER_HOME: itself },
    readOnly: ['init.d', 'init.gradle', 'init.gradle.kts', 'gradle.properties'],
    shared: ['caches', 'wrapper'],
  },
  {
    name: 'maven',
    location: '.m2/repository',
    elsewhere: { MAVEN_ARGS: (folder) => `-Dmaven.repo.local=${folder}` },
  },
  { name: 'ivy', location: '.ivy2', elsewhere: {} },
  { name: 'sbt', location: '.sbt', elsewhere: {}, shared: ['boot'] },
  {
    name: 'nuget',
    location: '.nuget',
    elsewhere: { NUGET_PACKAGES: itself },
    shared: ['packages'],
  },
  {
    name: 'dotnet',
    location: '.dotnet',
    elsewhere: { DOTNET_CLI_HOME: itself },
    readOnly: ['tools', 'dotnet', 'sdk', 'shared', 'host'],
    shared: [],
  },
  {
    name: 'bundler',
    location: '.bundle',
    elsewhere: { BUNDLE_USER_HOME: itself },
    shared: ['cache'],
  },
  { name: 'pub', location: '.pub-cache', elsewhere: { PUB_CACHE: itself }, readOnly: ['bin'] },
];

export interface CachesPlan {
  /** Before the writable roots, so that a root inside a cache stays a root. */
  readonly layers: readonly Mount[];
  /** Existing paths inside the layers that are made read-only again. */
  readonly readOnly: readonly AbsolutePath[];
  /** Holds what had no folder yet; mounted last, out of the hidden state folder. */
  readonly ownFolder: AbsolutePath | undefined;
  readonly variables: PlannedEnvironment['set'];
}

/** Paths whose facts `planCaches` wants. */
export function cachePaths(home: AbsolutePath): readonly AbsolutePath[] {
  return toolCaches.flatMap((tool) => [
    below(home, tool.location),
    ...inside(home, tool, tool.readOnly),
    ...inside(home, tool, tool.shared),
  ]);
}

export function planCaches(
  mode: CachesMode,
  run: PlannedRun,
  facts: Facts,
  roots: readonly AbsolutePath[],
): CachesPlan {
  const writable = new Set(roots);
  const isOpen = (path: AbsolutePath): boolean => innermost(writable, path) !== undefined;
  const found = (path: AbsolutePath): AbsolutePath | undefined => {
    const target = targetOf(facts.paths.get(path));
    return target?.kind === 'directory' ? target.real : undefined;
  };
  const nothing: CachesPlan = { layers: [], readOnly: [], ownFolder: undefined, variables: [] };
  if (mode === 'off') return nothing;
  if (mode === 'shared') {
    const folders = toolCaches.flatMap((tool) =>
      (tool.shared === undefined
        ? [below(run.home, tool.location)]
        : inside(run.home, tool, tool.shared)
      ).flatMap((path) => found(path) ?? []),
    );
    const layers = folders
      .filter((path) => !isOpen(path))
      .map((path): Mount => ({ op: 'writable', path }));
    return {
      ...nothing,
      layers,
      variables: toolCaches.flatMap((tool) => variables(tool.always, home(run, tool))),
    };
  }

  const ownFolder = below(run.cacheFolder, 'new');
  const plans = toolCaches.map((tool): CachesPlan => {
    const real = found(home(run, tool));
    if (real !== undefined && isOpen(real)) return nothing;
    // The layer's own files must not lie below what it covers (mount(2), overlayfs).
    if (real === undefined || !facts.host.overlay || contains(real, run.cacheFolder)) {
      const folder = below(ownFolder, tool.name);
      const set = [...variables(tool.elsewhere, folder), ...variables(tool.always, folder)];
      return { ...nothing, ownFolder: set.length === 0 ? undefined : ownFolder, variables: set };
    }
    const upper = below(run.cacheFolder, `${tool.name}/upper`);
    const work = below(run.cacheFolder, `${tool.name}/work`);
    return {
      layers: [{ op: 'copyOnWrite', path: real, upper, work }],
      readOnly: inside(run.home, tool, tool.readOnly)
        .flatMap((path) => targetOf(facts.paths.get(path))?.real ?? [])
        .filter((path) => contains(real, path)),
      ownFolder: undefined,
      variables: variables(tool.always, home(run, tool)),
    };
  });
  return {
    layers: plans.flatMap(({ layers }) => layers),
    readOnly: plans.flatMap(({ readOnly }) => readOnly),
    ownFolder: plans.find((plan) => plan.ownFolder !== undefined)?.ownFolder,
    variables: plans.flatMap((plan) => plan.variables),
  };
}

function home(run: PlannedRun, tool: ToolCache): AbsolutePath {
  return below(run.home, tool.location);
}

function inside(
  homeFolder: AbsolutePath,
  tool: ToolCache,
  names: readonly string[] | undefined,
): readonly AbsolutePath[] {
  return (names ?? []).map((name) => below(homeFolder, `${tool.location}/${name}`));
}

/** What the user has set already stays: `overwrite` is false. */
function variables(
  of: Readonly<Record<string, (folder: string) => string>> | undefined,
  folder: string,
): PlannedEnvironment['set'] {
  return Object.entries(of ?? {}).map(([name, value]) => ({
    name,
    value: value(folder),
    overwrite: false,
  }));
}
