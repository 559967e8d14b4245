import { createHash } from 'node:crypto';
import { ABOUT_MS } from '../engine/restarts.ts';
import { watchesOf, type Change, type Step, type Target } from '../engine/step.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { ServiceState } from '../facts/linux/services.ts';
import { united } from '../facts/watched.ts';
import { paths } from '../paths.ts';
import { script } from '../templates.ts';
import { fileState } from './file.ts';

/**
 * How a service should be.
 * - `running`: enabled and active
 * - `started`: enabled and neither stopped nor failed; systemd may be starting it again after a crash
 * - `enabled`: need not run, but what runs must not be older than what it uses
 */
export type WantedService = 'running' | 'started' | 'enabled';

/** What a service lives on, and how it should be. */
export interface ServiceOptions {
  /** Files and folders that it reads when it starts. */
  readonly uses: readonly string[];
  /** Steps that write what it uses. While one of them has pending changes, a restart is pending too, so the plan shows it. */
  readonly after?: readonly Step[];
  /** Default `running`. A function where it depends on what the host is. */
  readonly wanted?: WantedService | ((target: Target) => WantedService);
  /** How what it uses is taken over. `reload`: without an interruption; `uses` are then files. Default `restart`. */
  readonly on?: 'restart' | 'reload';
}

const ENABLED: ReadonlySet<string> = new Set(['enabled', 'static', 'indirect', 'alias', 'generated']);

/** A service of type notify says that it reloads after its reload was asked for: it runs all the while. */
const RUNNING: ReadonlySet<string> = new Set(['active', 'reloading']);

const MASKED: ReadonlySet<string> = new Set(['masked', 'masked-runtime']);

/** True when a service is in the state that is wanted of its process. */
function isUp({ active }: ServiceState, wanted: WantedService): boolean {
  if (RUNNING.has(active)) return true;
  if (wanted === 'enabled') return active !== 'inactive';
  return wanted === 'started' && active === 'activating';
}

/**
 * The hash that apply-service.sh notes of the files that a service loaded; undefined when a file is missing. A reload
 * does not move the time of its start, so this tells what it took over since.
 */
function hashOfUsed(target: Target, uses: readonly string[]): string | undefined {
  const states = uses.map((path) => fileState(target, path));
  const hashes = states.flatMap((state) => (state.kind === 'file' ? [state.sha256] : []));
  if (hashes.length < states.length) return undefined;
  return createHash('sha256')
    .update(hashes.map((hash) => `${hash}\n`).join(''))
    .digest('hex');
}

/** Why a process that runs is older than what it uses; undefined when it is not. */
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

function dueChange(target: Target, unit: string, options: ServiceOptions): Change | undefined {
  const { facts, host } = target;
  const state = facts.services.get(unit);
  if (state === undefined) throw new Error(`the probe of ${unit} gave no state`);
  const wanted = typeof options.wanted === 'function' ? options.wanted(target) : (options.wanted ?? 'running');
  const enable = !ENABLED.has(state.enabled);
  const runs = isUp(state, wanted);
  const changedUnit = state.needsDaemonReload ? 'its unit changed' : undefined;
  const why = runs && state.startedMs > 0 ? (changedUnit ?? outdated(target, unit, state, options)) : undefined;
  const takeOver = changedUnit === undefined ? (options.on ?? 'restart') : 'restart';
  const verbs = [
    ...(MASKED.has(state.enabled) ? ['unmask'] : []),
    ...(enable && (wanted === 'enabled' || state.load !== 'not-found') ? ['enable'] : []),
    ...(wanted !== 'enabled' && !runs ? ['start'] : why === undefined ? [] : [takeOver]),
  ];
  if (verbs.length === 0) return undefined;
  const disrupts = verbs.includes('restart') && hasKubelet(facts);
  const found =
    why ?? `found ${state.load === 'not-found' ? 'none' : `${state.enabled || 'not enabled'}, ${state.active}`}`;
  return {
    summary: `${new Intl.ListFormat('en', { style: 'long' }).format(verbs)} ${unit} (${found})`,
    disrupts,
    ...(disrupts ? { restarts: [{ what: unit, hosts: [host.name], aboutMs: ABOUT_MS.service }] } : {}),
    apply: async (on) => {
      const action = verbs.find((verb) => verb !== 'enable' && verb !== 'unmask') ?? 'none';
      const note = options.on === 'reload' ? paths.applied : '';
      await on(host).run(
        script('linux/apply-service.sh', { UNIT: unit, ACTION: action, USES: options.uses, APPLIED: note }),
      );
    },
  };
}

/** A systemd service that is enabled, runs, and started after the newest of what it uses was written. */
export const service = (unit: string, options: ServiceOptions): Step => ({
  name: `${unit}-service`,
  watches: (about) =>
    united([{ units: [unit], files: options.uses }, ...(options.after ?? []).map((step) => watchesOf(step, about))]),
  diff: (target) => {
    const change = dueChange(target, unit, options);
    return change === undefined ? [] : [change];
  },
});
