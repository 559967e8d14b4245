import type { Change, Step, Target } from '../engine/step.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { ServiceState } from '../facts/linux/services.ts';
import { script } from '../templates.ts';
import { fileState } from './file.ts';

/** What a service lives on, and how it should be. */
export interface ServiceOptions {
  /** Files and folders that it reads when it starts. */
  readonly uses: readonly string[];
  /** Steps that write what it uses: due ones of them make a restart due, so that a plan tells of it beforehand. */
  readonly after?: readonly Step[];
  /** `enabled`: need not run, but what runs must not be older than what it uses. Default `running`. */
  readonly wanted?: 'running' | 'enabled';
}

const ENABLED: ReadonlySet<string> = new Set(['enabled', 'static', 'indirect', 'alias', 'generated']);

/** Why a process that runs is older than what it uses; undefined when it is not. */
function outdated(target: Target, state: ServiceState, { uses, after = [] }: ServiceOptions): string | undefined {
  if (state.needsDaemonReload) return 'its unit changed';
  const newer = uses.find((path) => {
    const used = fileState(target, path);
    return (used.kind === 'file' || used.kind === 'folder') && used.mtimeMs > state.startedMs;
  });
  if (newer !== undefined) return `${newer} is newer`;
  return after.some((step) => step.diff(target).length > 0) ? 'what it uses changes' : undefined;
}

function dueChange(target: Target, unit: string, options: ServiceOptions): Change | undefined {
  const { facts, host } = target;
  const state = facts.services.get(unit);
  if (state === undefined) throw new Error(`service ${unit} is not watched: add it to watchedUnits`);
  const wanted = options.wanted ?? 'running';
  const enable = !ENABLED.has(state.enabled);
  const runs = state.active === 'active' || (wanted === 'enabled' && state.active !== 'inactive');
  const why = runs && state.startedMs > 0 ? outdated(target, state, options) : undefined;
  const verbs = [
    ...(enable && (wanted === 'enabled' || state.load !== 'not-found') ? ['enable'] : []),
    ...(wanted === 'running' && !runs ? ['start'] : why === undefined ? [] : ['restart']),
  ];
  if (verbs.length === 0) return undefined;
  const found =
    why ?? `found ${state.load === 'not-found' ? 'none' : `${state.enabled || 'not enabled'}, ${state.active}`}`;
  return {
    summary: `${verbs.join(' and ')} ${unit} (${found})`,
    disrupts: verbs.includes('restart') && hasKubelet(facts),
    apply: async (on) => {
      const action = verbs.includes('restart') ? 'restart' : verbs.includes('start') ? 'start' : 'none';
      await on(host).run(script('linux/apply-service.sh', { UNIT: unit, ACTION: action, USES: options.uses }));
    },
  };
}

/** A systemd service that is enabled, runs, and started after the newest of what it uses was written. */
export const service = (unit: string, options: ServiceOptions): Step => ({
  name: `${unit}-service`,
  diff: (target) => {
    const change = dueChange(target, unit, options);
    return change === undefined ? [] : [change];
  },
});
