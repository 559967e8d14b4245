import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectError } from '../errors.ts';
import { parseJump } from '../inventory/file/ssh.ts';
import type { Bastion, SshSettings } from '../inventory/host-settings.ts';
import type { Host } from '../inventory/inventory.ts';
import { limiter } from '../limit.ts';
import {
  type Answer,
  answerOf,
  type ClassOf,
  configClasses,
  set,
  UNSET,
  UNSET_USER,
  withAnswer,
} from './ssh-config-answers.ts';

/** The user's SSH configuration, read through `ssh -G`, for what inventories leave open. */
interface SshConfig {
  /** The host with the configuration's settings; the inventory's settings win. @throws ConnectError */
  applied<H extends Host>(host: H): Promise<H>;
  /** How often ssh was run. */
  readonly runs: number;
  close(): void;
}

const SYSTEM_CONFIG = '/etc/ssh/ssh_config';
const AT_ONCE = 4;
const TIMEOUT_MS = 20_000;

/** Where the configuration is, and a callback for when it cannot be read. */
interface SshConfigOptions {
  /** The user's home folder, where ssh itself reads ~/.ssh/config. */
  readonly home: string;
  /** Called once if the file exists, and no ssh that could read it. */
  readonly noSsh?: (file: string) => void;
}

/** The configuration files that `ssh -G` reads: the user's, and below it marks for settings that are not made. */
function wrappers(): { readonly of: (file: string, own: boolean) => string; readonly remove: () => void } {
  const made = new Map<string, string>();
  const folders: string[] = [];
  const wrapped = (file: string, own: boolean): string => {
    const folder = mkdtempSync(join(tmpdir(), 'kbuild-ssh-config-'));
    folders.push(folder);
    const path = join(folder, 'config');
    // The first value of a keyword wins.
    const text = [
      `Include "${file}"`,
      ...(own ? [`Include ${SYSTEM_CONFIG}`] : []),
      'Match all',
      `  User ${UNSET_USER}`,
      `  IdentityFile ${UNSET}`,
      `  UserKnownHostsFile ${UNSET}`,
      '',
    ].join('\n');
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  return {
    of: (file, own) => {
      const path = made.get(file) ?? wrapped(file, own);
      made.set(file, path);
      return path;
    },
    remove: () => {
      for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs `ssh -G`, as seldom as possible. */
interface Asker {
  /** The file's settings for the name; undefined if there is no ssh. @throws Error with what ssh printed */
  readonly ask: (file: string, own: boolean, name: string) => Promise<Answer | undefined>;
  readonly runs: () => number;
  readonly close: () => void;
}

function asker(home: string): Asker {
  const places = limiter(AT_ONCE);
  const answers = new Map<string, Promise<Answer | undefined>>();
  const classes = new Map<string, ClassOf>();
  const wrapper = wrappers();
  let runs = 0;
  const once = (key: string, config: string, name: string): Promise<Answer | undefined> => {
    const run = () => {
      runs++;
      return askSsh(config, name);
    };
    const known = answers.get(key) ?? places.run(run);
    answers.set(key, known);
    return known;
  };
  return {
    runs: () => runs,
    close: wrapper.remove,
    async ask(file, own, name) {
      const config = wrapper.of(file, own);
      if (!classes.has(file)) classes.set(file, configClasses(own ? [file, SYSTEM_CONFIG] : [file], home));
      const classOf = classes.get(file);
      const single = `${file}\0name\0${name}`;
      if (classOf === undefined) return once(single, config, name);
      const shared = await once(`${file}\0class\0${classOf(name)}`, config, name);
      if (shared === undefined) return undefined;
      // The answer for another host of the class serves ours only if the configuration changed no address.
      return shared.get('kbuild-asked')?.[0] === name || shared.get('kbuild-same')?.[0] === 'yes'
        ? shared
        : once(single, config, name);
    },
  };
}

/**
 * Where there is no configuration file, nothing is run. Else ssh is run once for all hosts that match the same `Host`
 * lines, and once for each only if there is a `Match` line or the configuration gives the name another address.
 */
export function sshConfig({ home, noSsh }: SshConfigOptions): SshConfig {
  const { ask, runs, close } = asker(home);
  let told = false;
  return {
    get runs() {
      return runs();
    },
    close,
    async applied(host) {
      const { open, configFile } = host.ssh;
      if (open === undefined || configFile === 'none') return host;
      const file = configFile ?? join(home, '.ssh', 'config');
      const own = configFile === undefined;
      if (own && !existsSync(file)) return host;
      const asking = async (name: string): Promise<Answer | undefined> => {
        try {
          return await ask(file, own, name);
        } catch (error) {
          const message = `"ssh -G ${name}" failed: ${(error as Error).message}`;
          throw failure(host, message, `check ${file}, or set ssh.configFile: none`, error);
        }
      };
      const answer = await asking(host.address);
      if (answer === undefined) {
        if (!told) noSsh?.(file);
        told = true;
        return host;
      }
      if (host.ssh.client === 'openssh') return forOpenssh(host, answer, home);
      const refused = unusable(answer, host.ssh);
      if (refused !== undefined)
        throw failure(
          host,
          `${file} says ${refused} for ${host.address}, which kbuild does not do`,
          'set ssh.client: openssh, use ProxyJump, set ssh.bastion, or ssh.configFile: none',
        );
      const bastions = open.includes('bastions') ? await jumps(answer, host.ssh, home, asking) : undefined;
      return forBuiltIn(host, answer, home, bastions);
    },
  };
}

const failure = ({ name }: Host, message: string, remedy: string, cause?: unknown): ConnectError =>
  new ConnectError(name, message, { retryable: false, remedy, cause });

/**
 * OpenSSH reads its configuration itself. kbuild needs only the user, for sudo, and whether a bastion is on the way, to
 * limit how many hosts are dialled at once.
 */
function forOpenssh<H extends Host>(host: H, answer: Answer, home: string): H {
  const { user } = withAnswer(host.ssh, answer, host.address, home);
  const others = ['proxyjump', 'proxycommand'].some((key) => set(answer.get(key), '').length > 0);
  const throughOthers = others && host.ssh.open?.includes('bastions') === true;
  return { ...host, ssh: { ...host.ssh, user, ...(throughOthers ? { throughOthers } : {}) } };
}

/** The host with all settings of the configuration. */
function forBuiltIn<H extends Host>(
  host: H,
  answer: Answer,
  home: string,
  bastions: readonly Bastion[] | undefined,
): H {
  const isSame = answer.get('kbuild-same')?.[0] === 'yes';
  const address = isSame ? host.address : (answer.get('hostname')?.[0] ?? host.address);
  const ssh = { ...withAnswer(host.ssh, answer, host.address, home), ...(bastions === undefined ? {} : { bastions }) };
  return { ...host, address, ssh };
}

/** undefined where there is no ssh. */
const askSsh = (wrapper: string, name: string): Promise<Answer | undefined> =>
  new Promise((resolve, reject) => {
    execFile('ssh', ['-F', wrapper, '-G', '--', name], { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      if (error === null) resolve(answerOf(stdout, name));
      else if ((error as { readonly code?: unknown }).code === 'ENOENT') resolve(undefined);
      else reject(new Error(stderr.trim().split('\n').at(-1) ?? error.message));
    });
  });

/** A setting that changes how the host is reached, and that kbuild has no way to follow. */
function unusable(answer: Answer, ssh: SshSettings): string | undefined {
  const command = set(answer.get('proxycommand'), '')[0];
  return command !== undefined && ssh.open?.includes('bastions') === true ? `ProxyCommand ${command}` : undefined;
}

/** Bastions behind bastions; more is a circle. */
const MAX_JUMPS = 8;

/** The bastions of ProxyJump, each as the configuration describes it; those that it goes through itself come first. */
async function jumps(
  answer: Answer,
  ssh: SshSettings,
  home: string,
  ask: (name: string) => Promise<Answer | undefined>,
  depth = 0,
): Promise<readonly Bastion[] | undefined> {
  const jump = set(answer.get('proxyjump'), '')[0];
  if (jump === undefined) return undefined;
  const { user: ownUser, identityFiles, passphrase, knownHostsFiles, open } = ssh;
  // Pins, bastions and passwords are the host's own.
  const shared: SshSettings = {
    user: ownUser,
    port: 22,
    knownHostsFiles,
    ...(identityFiles === undefined ? {} : { identityFiles }),
    ...(passphrase === undefined ? {} : { passphrase }),
    ...(open === undefined ? {} : { open }),
  };
  const found: Bastion[] = [];
  for (const [i, text] of jump.split(',').entries()) {
    const { user, address, port } = parseJump(text.replace(/^ssh:\/\//, ''));
    const own = await ask(address);
    // As OpenSSH: only the first of a list is reached by its own ProxyJump.
    if (own !== undefined && i === 0 && depth < MAX_JUMPS)
      found.push(...((await jumps(own, ssh, home, ask, depth + 1)) ?? []));
    const login = own === undefined ? shared : withAnswer(shared, own, address, home);
    found.push({
      ...login,
      address: own?.get('hostname')?.[0] ?? address,
      ...(user === undefined ? {} : { user }),
      port: port ?? (own === undefined ? 22 : Number(own.get('port')?.[0] ?? 22)),
    });
  }
  return found;
}
