// What holds before anybody writes a setting: places that are closed for reading, names that are protected, sockets,
// variables that are dropped. Purely credentials are closed; files that are mostly configuration (`~/.npmrc`) stay readable.

import type { AgentKind } from './policy.js';

/** Closed for reading. Here and in all lists of places: relative ones are below the home folder, `UID` is the user's number. */
export const closedPlaces: readonly string[] = [
  // Keys and agents
  '.ssh',
  '.gnupg',
  '.password-store',
  '.local/share/keyrings',
  '.local/share/kwalletd',
  '.kde/share/apps/kwallet',
  '.kde4/share/apps/kwallet',
  '.config/sops/age',
  '.config/age',
  '.config/op',
  '.config/1Password',
  '.config/Bitwarden',
  '.config/Bitwarden CLI',
  '.config/keepassxc',
  '.vault-token',
  '.Xauthority',
  '.ICEauthority',
  // Clouds and clusters
  '.aws',
  '.azure',
  '.kube',
  '.oci',
  '.boto',
  '.s3cfg',
  '.config/gcloud',
  '.config/doctl',
  '.config/hcloud',
  '.config/rclone',
  '.terraform.d/credentials.tfrc.json',
  // Forges, registries, databases
  '.config/gh',
  '.config/hub',
  '.config/glab-cli',
  '.config/github-copilot',
  '.git-credentials',
  '.config/git/credentials',
  '.docker/config.json',
  '.config/containers/auth.json',
  '.netrc',
  '.pypirc',
  '.cache/huggingface/token',
  '.cargo/credentials',
  '.cargo/credentials.toml',
  '.gem/credentials',
  '.local/share/gem/credentials',
  '.pgpass',
  '.my.cnf',
  '.mylogin.cnf',
  // Browsers and mail
  '.mozilla',
  '.config/mozilla',
  '.config/chromium',
  '.config/google-chrome',
  '.config/google-chrome-beta',
  '.config/google-chrome-unstable',
  '.config/BraveSoftware',
  '.config/microsoft-edge',
  '.config/microsoft-edge-beta',
  '.config/microsoft-edge-dev',
  '.config/vivaldi',
  '.config/opera',
  '.thunderbird',
  'snap/firefox',
  'snap/chromium',
  'snap/brave',
  '.var/app/org.mozilla.firefox',
  '.var/app/org.chromium.Chromium',
  '.var/app/com.google.Chrome',
  '.var/app/com.brave.Browser',
  '.var/app/com.microsoft.Edge',
  // Ways to other programs of the user, and machines of container engines with their keys
  '.docker/desktop',
  '.colima',
  '.lima',
  '.rd',
  '.orbstack',
  '/run/user/UID',
];

/**
 * What `read: roots` leaves readable of `/` and `/var`: programs, their libraries and their configuration, interfaces of the
 * kernel, and what has rules of its own. It is the system's, not the user's; `/opt` and `/snap` hold programs as well.
 */
export const systemFolders: readonly string[] = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/gnu',
  '/init', // WSL's way to start programs of Windows
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix',
  '/opt',
  '/proc',
  '/run', // resolver, sockets; /run/user is closed by itself
  '/sbin',
  '/snap',
  '/sys',
  '/tmp', // private, or shared on purpose
  '/usr',
  '/var',
  '/var/cache', // fonts, manuals
  '/var/lib', // certificates, alternatives, package managers
  '/var/lock',
  '/var/run',
  '/var/tmp',
];

/** And of the home folder: tool chains, which hold programs and no documents, and what shells and git read at their start. */
export const toolFolders: readonly string[] = [
  '.asdf',
  '.bun/bin',
  '.cargo/bin',
  '.cargo/config.toml',
  '.cargo/env',
  '.deno/bin',
  '.dotnet',
  '.fnm',
  '.ghcup',
  '.goenv',
  '.jenv',
  '.linuxbrew',
  '.local/bin',
  '.local/lib',
  '.local/pipx',
  '.local/share/fnm',
  '.local/share/mise',
  '.local/share/pipx',
  '.local/share/pnpm',
  '.local/share/uv',
  '.nix-profile',
  '.nodenv',
  '.nvm',
  '.pyenv',
  '.rbenv',
  '.rustup',
  '.rvm',
  '.sdkman',
  '.volta',
  'go/bin',
  '.bash_aliases',
  '.bash_profile',
  '.bashrc',
  '.inputrc',
  '.profile',
  '.zlogin',
  '.zprofile',
  '.zshenv',
  '.zshrc',
  '.gitconfig',
  '.config/git/attributes',
  '.config/git/config',
  '.config/git/ignore',
];

/** Container engines: whoever reaches one has everything on this machine. Each a socket or the folder of one. */
export const engineSockets: readonly string[] = [
  '/run/docker.sock',
  '/run/docker',
  '/run/podman',
  '/run/containerd',
  '/run/crio',
  '/run/buildkit',
  '/run/libvirt',
  '/run/lxd.socket',
  '/run/incus',
  '/var/lib/lxd/unix.socket',
  '/var/lib/incus/unix.socket',
  '/var/snap/lxd/common/lxd',
  '/run/user/UID/docker.sock',
  '/run/user/UID/docker',
  '/run/user/UID/podman',
  '/run/user/UID/containerd',
  '/run/user/UID/containerd-rootless',
  '/run/user/UID/buildkit',
  '/run/user/UID/libvirt',
  '.docker/run',
  '.docker/desktop',
  '.colima',
  '.lima',
  '.rd',
  '.orbstack',
  '.local/share/containers/podman/machine',
];

/** The desktop, the system's services, and whatever else of the user's listens: ways to run something outside. */
export const deniedSockets: readonly string[] = [
  '/run/user/UID', // session bus, Wayland, PipeWire, PulseAudio, keyring, editors, …
  '/run/dbus',
  '/run/systemd',
  '/tmp/.X11-unix',
  '/tmp/.ICE-unix',
  // Asked by the C library for names of users and hosts, which it finds out by itself as well
  '/run/nscd',
  '/var/lib/sss/pipes',
  '/run/avahi-daemon',
  // Beside the agents, but they reach the network or a card
  '.gnupg/S.dirmngr',
  '.gnupg/S.scdaemon',
];

/** Where ssh-agent and gpg-agent usually listen. */
export const agentSockets = {
  ssh: [
    '/run/user/UID/ssh-agent.socket',
    '/run/user/UID/openssh_agent',
    '/run/user/UID/keyring/ssh',
    '/run/user/UID/keyring/.ssh',
    '/run/user/UID/gcr/ssh',
    '/run/user/UID/gcr/.ssh',
    '/run/user/UID/gnupg/S.gpg-agent.ssh',
    '.gnupg/S.gpg-agent.ssh',
    '.1password/agent.sock',
    '.bitwarden-ssh-agent.sock',
  ],
  gpg: [
    '/run/user/UID/gnupg/S.gpg-agent',
    '/run/user/UID/gnupg/S.gpg-agent.extra',
    '/run/user/UID/gnupg/S.gpg-agent.browser',
    '.gnupg/S.gpg-agent',
    '.gnupg/S.gpg-agent.extra',
    '.gnupg/S.gpg-agent.browser',
  ],
} as const satisfies Readonly<Record<AgentKind, readonly string[]>>;

/**
 * Below these folders protected names are ordinary files: installed packages bring them along. A repository's `.git` is
 * protected there as well.
 */
export const packageFolders: readonly string[] = [
  'node_modules',
  'bower_components',
  'jspm_packages',
  'vendor',
  'site-packages',
  'dist-packages',
  '.venv',
  'venv',
  'Pods',
  'Carthage',
];

/**
 * What programs leave beside their work and can do without, as fnmatch(3) patterns of one component: where it cannot be
 * written, nobody is asked.
 */
export const quietPatterns: readonly string[] = [
  '__pycache__',
  '*.pyc',
  '.*_history*',
  '.lesshs*',
  '.viminf*', // .viminfo, and .viminfo.tmp, .viminfz.tmp … while it is written
  '.wget-hsts',
  '.zcompdump*',
  '.uuid*',
];

/** Protected below each writable root, because something outside runs or obeys them later. */
export const protectedNames: readonly string[] = [
  '.vscode',
  '.idea',
  '.devcontainer',
  '.devcontainer.json',
  '.claude',
  '.cursor',
  '.husky',
  '.envrc',
  '.pre-commit-config.yaml',
  '.github/workflows',
  '.github/hooks',
  '.mcp.json',
];

/** The same, and not to be given up by any setting. */
export const fixedProtectedNames: readonly string[] = ['.git', '.codex', '.agents', '.cordon.json'];

/** Protected when the home folder itself lies in a writable root: what shells, sessions and editors run at their start. */
export const protectedInHome: readonly string[] = [
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.bash_aliases',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.zlogout',
  '.xinitrc',
  '.xprofile',
  '.xsessionrc',
  '.inputrc',
  '.config',
  '.local/bin',
  '.local/lib',
  '.local/share/applications',
  '.local/share/systemd',
  '.local/share/code-server',
  '.gitconfig',
  '.gitattributes',
  '.npmrc',
  '.vimrc',
  '.vim',
  '.emacs',
  '.emacs.d',
  '.vscode-server',
  '.vscode-oss',
  '.cursor-server',
  '.cargo/bin',
  '.cargo/config.toml',
  '.cargo/env',
  '.nvm',
  '.rustup',
  '.pyenv',
  '.asdf',
  '.claude.json',
  '.gemini',
  '.codex',
  'bin',
  'go/bin',
];

/** Variables that look like secrets, or that lead out of the sandbox. */
export const droppedVariables: readonly string[] = [
  '*TOKEN',
  '*_TOKEN_*',
  'TOKEN_*',
  '*_TOKENS',
  '*_token',
  '*SECRET*',
  '*secret*',
  '*PASSWORD*',
  '*password*',
  '*PASSWD*',
  '*PASSPHRASE*',
  '*_PASS',
  '*_PWD',
  '*CREDENTIAL*',
  '*_KEY',
  '*APIKEY*',
  '*API_KEY*',
  '*ACCESS_KEY*',
  '*PRIVATE_KEY*',
  '*_KEY_ID',
  '*_key',
  '*_AUTH',
  '*_PAT',
  '*_DSN',
  '*_SAS',
  '*CONNECTION_STRING*',
  '*DATABASE_URL',
  '*REDIS_URL',
  '*MONGO*_UR?',
  '*AMQP_URL',
  'npm_config_*auth*',
  'NPM_CONFIG_*AUTH*',
  'AWS_*',
  'AZURE_*',
  'KUBECONFIG',
  'KRB5CCNAME',
  'SSH_AGENT_PID',
  'SSH_ASKPASS*',
  'GIT_ASKPASS',
  'GPG_AGENT_INFO',
  'GNOME_KEYRING_*',
  'DBUS_*',
  'DOCKER_HOST',
  'DOCKER_CERT_PATH',
  'CONTAINER_HOST',
  'VSCODE_*',
  'CORDON_*',
];

/** Given back from the list above: what VS Code's shell integration needs, none of it a way out. */
export const keptVariables: readonly string[] = [
  'VSCODE_INJECTION',
  'VSCODE_NONCE',
  'VSCODE_STABLE',
  'VSCODE_SHELL_LOGIN',
  'VSCODE_SHELL_INTEGRATION',
  'VSCODE_SHELL_ENV_REPORTING',
  'VSCODE_SUGGEST',
  'VSCODE_PYTHON_AUTOACTIVATE_GUARD',
];
