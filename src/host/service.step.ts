import { hasKubelet } from '../cluster/fleet/joined.ts';
import { ABOUT_MS } from '../engine/restarts.ts';
import { type Change, type Step, type Target, watchesOf } from '../engine/step.ts';
import { FactError } from '../errors.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { OWN_HEADER, paths } from '../paths.ts';
import { sha256Of } from '../shell/secret.ts';
import { united } from '../shell/watched.ts';
import { script } from '../templates.ts';
import { file, fileState } from './file.step.ts';
import type { ServiceState } from './services.facts.ts';

/** Quotes a word for a unit file, where `%` begins a specifier. */
export const unitQuoted = (text: string): string =>
  `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('%', '%%')}"`;

/** A drop-in with the proxy's variables, in the upper and lower case that programs read; undefined without a proxy. */
function content({ proxy }: Inventory): string | undefined {
  if (proxy === undefined) return undefined;
  const variables = { HTTP_PROXY: proxy.http, HTTPS_PROXY: proxy.https, NO_PROXY: proxy.noProxy.join(',') };
  const lines = Object.entries(variables).flatMap(([name, value]) =>
    value === undefined ? [] : [name, name.toLowerCase()].map((key) => `Environment=${unitQuoted(`${key}=${value}`)}`),
  );
  return `${OWN_HEADER}.\n[Service]\n${lines.join('\n')}\n`;
}

/** Writes a service's drop-in with the inventory's proxy. Removes it if the inventory has no proxy. */
export const proxyDropIn = (name: string, path: string): Step =>
  file(name, { path, content: ({ inventory }) => content(inventory) });

/**
 * The desired state of a service.
 * - `running`: enabled and active
 * - `started`: enabled and neither stopped nor failed; systemd may be starting it again after a crash
 * - `enabled`: need not run; a running process must not be older than the files that it uses
 */
type WantedService = 'running' | 'started' | 'enabled';

/** The dependencies of a service, and its desired state. */
interface ServiceOptions {
  /** Paths of files and folders that it reads when it starts. */
  readonly uses: readonly string[];
  /**
   * Steps that write files of the service. While one of them has pending changes, a restart is pending too, so the plan
   * shows it.
   */
  readonly after?: readonly Step[];
  /** Default `running`. A function if it depends on the observed host. */
  readonly wanted?: WantedService | ((target: Target) => WantedService);
  /** How it reads changed files. `reload`: without an interruption, and `uses` has only files. Default `restart`. */
  readonly on?: 'restart' | 'reload';
}

const ENABLED: ReadonlySet<string> = new Set(['enabled', 'static', 'indirect', 'alias', 'generated']);

/** A service of type notify is `reloading` during a reload, and still runs. */
const RUNNING: ReadonlySet<string> = new Set(['active', 'reloading']);

const MASKED: ReadonlySet<string> = new Set(['masked', 'masked-runtime']);

/** True if the process of a service is in the desired state. */
function isUp({ active }: ServiceState, wanted: WantedService): boolean {
  if (RUNNING.has(active)) return true;
  if (wanted === 'enabled') return active !== 'inactive';
  return wanted === 'started' && active === 'activating';
}

/**
 * The hash that apply-service.sh records of the files that a service has loaded; undefined if a file is missing. A
 * reload does not change the service's start time, so the hash shows what it has loaded since.
 */
function hashOfUsed(target: Target, uses: readonly string[]): string | undefined {
  const states = uses.map((path) => fileState(target, path));
  const hashes = states.flatMap((state) => (state.kind === 'file' ? [state.sha256] : []));
  if (hashes.length < states.length) return undefined;
  return sha256Of(hashes.map((hash) => `${hash}\n`).join(''));
}

/** Why a running service must read its files again; undefined if it need not. */
function outdated(
  target: Target,
  unit: string,
  state: ServiceState,
  { uses, after = [], on }: ServiceOptions,
): string | undefined {
  const newer = uses.find((path) => {
    const used = fileState(target, path);
    return (used.kind === 'file' || used.kind === 'folder') && used.mtimeMs > state.startedMs;
  });
  const loaded = on === 'reload' && target.facts.applied.get(unit) === hashOfUsed(target, uses);
  if (newer !== undefined && !loaded) return `${newer} is newer`;
  return after.some((step) => step.diff(target).length > 0) ? 'what it uses changes' : undefined;
}

/**
 * `start`, `enable and start`, `unmask, enable, and start`. `Intl.ListFormat` would load ICU's data for it, about 20 ms
 * a run.
 */
const listed = (verbs: readonly string[]): string =>
  verbs.length < 3 ? verbs.join(' and ') : `${verbs.slice(0, -1).join(', ')}, and ${verbs.at(-1)!}`;

function pendingChange(target: Target, unit: string, options: ServiceOptions): Change | undefined {
  const { facts, host } = target;
  const state = facts.services.get(unit);
  if (state === undefined) throw new FactError(host.name, 'services', `there is no state of ${unit}`);
  const wanted = typeof options.wanted === 'function' ? options.wanted(target) : (options.wanted ?? 'running');
  const enable = !ENABLED.has(state.enabled);
  const isRunning = isUp(state, wanted);
  const changedUnit = state.needsDaemonReload ? 'its unit changed' : undefined;
  const why = isRunning && state.startedMs > 0 ? (changedUnit ?? outdated(target, unit, state, options)) : undefined;
  const takeOver = changedUnit === undefined ? (options.on ?? 'restart') : 'restart';
  const verbs = [
    ...(MASKED.has(state.enabled) ? ['unmask'] : []),
    ...(enable && (wanted === 'enabled' || state.load !== 'not-found') ? ['enable'] : []),
    ...(wanted !== 'enabled' && !isRunning ? ['start'] : why === undefined ? [] : [takeOver]),
  ];
  if (verbs.length === 0) return undefined;
  const disrupts = verbs.includes('restart') && hasKubelet(facts);
  const found =
    why ?? `found ${state.load === 'not-found' ? 'none' : `${state.enabled || 'not enabled'}, ${state.active}`}`;
  return {
    summary: `${listed(verbs)} ${unit} (${found})`,
    disrupts,
    ...(disrupts ? { restarts: [{ what: unit, hosts: [host.name], aboutMs: ABOUT_MS.service }] } : {}),
    apply: async (on) => {
      const action = verbs.find((verb) => verb !== 'enable' && verb !== 'unmask') ?? 'none';
      const note = options.on === 'reload' ? paths.applied : '';
      await on(host).run(
        script('host/apply-service.sh', { UNIT: unit, ACTION: action, USES: options.uses, APPLIED: note }),
      );
    },
  };
}

/** Enables and starts a systemd service. Restarts or reloads it if it is older than a file that it uses. */
export const service = (unit: string, options: ServiceOptions): Step => ({
  name: `${unit}-service`,
  watches: (about) =>
    united([{ units: [unit], files: options.uses }, ...(options.after ?? []).map((step) => watchesOf(step, about))]),
  diff: (target) => {
    const change = pendingChange(target, unit, options);
    return change === undefined ? [] : [change];
  },
});
