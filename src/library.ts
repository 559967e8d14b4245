import { randomUUID } from 'node:crypto';
import type { Fleet } from './cluster/fleet/fleet.ts';
import { type LeftOut, refusedWorkers } from './cluster/joined.refusal.ts';
import { refusals } from './cluster/up.refusal.ts';
import { checkNames } from './commands/every.checks.ts';
import { up } from './commands/up.phases.ts';
import { changesIn, plan as planOf, type PlannedChange as Planned, waitsIn, withoutAbsent } from './engine/plan.ts';
import { FactError, KbuildError, type Problem, UsageError } from './errors.ts';
import { loadInventory as load } from './inventory/file/load.ts';
import { secretData } from './inventory/file/manifests.ts';
import type { Inventory } from './inventory/inventory.ts';
import { masker, type Masker, maskError } from './report/mask.ts';
import { connect as connectHosts } from './session/connect.ts';
import type { Context } from './session/context.ts';

export { ConnectError, FactError, InventoryError, KbuildError, type Problem, Refused, UsageError } from './errors.ts';
export type { Inventory } from './inventory/inventory.ts';

/** Where an inventory is. */
export interface LoadOptions {
  /** Relative to `cwd`. */
  readonly file: string;
  /** Default: the folder of the process. */
  readonly cwd?: string;
  /** Values of secrets that the inventory names as `env:NAME`. Default: the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** An inventory that kbuild can use. */
export interface Loaded {
  readonly inventory: Inventory;
  readonly warnings: readonly Problem[];
}

/** How `connect` reaches the hosts. */
export interface ConnectOptions {
  /** How many hosts to work on at once. Default 30. */
  readonly concurrency?: number;
  /** True: unknown host keys are recorded. A changed host key is refused all the same. Default false. */
  readonly acceptNewHostKeys?: boolean;
  /** Ends `connect`; `close` ends an observation later. */
  readonly signal?: AbortSignal;
  /** Default: the environment of the process, e.g. for SSH_AUTH_SOCK. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Gets warnings, e.g. that there is no ssh program to read ~/.ssh/config with. */
  readonly onWarning?: (text: string) => void;
}

/** The hosts of an inventory, connected and observed. */
export interface Connection {
  readonly inventory: Inventory;
  /** Names of the hosts that were observed. */
  readonly reached: readonly string[];
  /** Hosts that did not answer, and workers that kbuild refuses to change. */
  readonly unreachable: readonly { readonly host: string; readonly error: KbuildError }[];
  /** Plans by the last observation: use `plan(connection)`. */
  readonly plan: () => Plan;
  /** Observes the reached hosts again, for the next plan. */
  readonly observe: () => Promise<void>;
  /** Closes all connections. */
  readonly close: () => Promise<void>;
}

/** One pending change. */
export interface PlannedChange {
  readonly phase: string;
  readonly host: string;
  readonly step: string;
  /** In the imperative, with what was found. Holds no secret. */
  readonly summary: string;
}

/** What `kbuild up` would do. */
export interface Plan {
  /** In the order in which `up` makes them. */
  readonly changes: readonly PlannedChange[];
  /** What `up` would only wait for. */
  readonly waits: readonly PlannedChange[];
  /**
   * Why `up` would not start: a control plane, etcd host or load balancer that does not answer, a refusal, or a fact
   * that kbuild could not read. Each is there once. Checks are not part of it.
   */
  readonly errors: readonly KbuildError[];
}

/**
 * Reads an inventory with its files, secrets and manifests. Contacts no host. @throws InventoryError with every problem
 */
export const loadInventory = ({ file, cwd = process.cwd(), env = process.env }: LoadOptions): Promise<Loaded> =>
  load({ file, cwd, env, checks: checkNames });

const noTerminal = (): Promise<never> =>
  Promise.reject(
    new UsageError('the library asks no questions', { remedy: 'use a key without a passphrase, or an agent' }),
  );

/** The process without a terminal: questions are refused. */
const contextOf = ({ env = process.env, onWarning }: ConnectOptions): Context => ({
  out: () => undefined,
  err: (text) => onWarning?.(text.trimEnd()),
  terminal: undefined,
  env,
  cwd: process.cwd(),
  ask: noTerminal,
  askHidden: noTerminal,
  canAsk: false,
  version: '',
  onInterrupt: () => () => undefined,
  exit: () => undefined,
  nowMs: () => performance.timeOrigin + performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
});

/** Each error once, masked: several steps read the same fact. @throws an error that is a bug of kbuild */
function listed(errors: readonly Error[], mask: Masker): readonly KbuildError[] {
  const byMessage = new Map<string, KbuildError>();
  for (const error of errors) {
    const { message } = maskError(error, mask);
    if (!(error instanceof KbuildError)) throw error;
    if (!byMessage.has(message)) byMessage.set(message, error);
  }
  return [...byMessage.values()];
}

/** What stops `up`, and its changes. */
interface Found {
  readonly changes: readonly Planned[];
  readonly errors: readonly Error[];
}

/** The plan of `up`. A refused cluster has none: `up` would not get as far. */
function planned(inventory: Inventory, fleet: Fleet): Found {
  const missing = fleet.unreachable.flatMap(({ host, error }) => (host.role === 'worker' ? [] : [error]));
  try {
    const refused = refusals(inventory, fleet);
    if (refused.length > 0) return { changes: [], errors: [...missing, ...refused] };
    const { changes, errors } = planOf(withoutAbsent(up(inventory), inventory, fleet).phases, inventory, fleet);
    return { changes, errors: [...missing, ...errors.map(({ error }) => error)] };
  } catch (error) {
    if (!(error instanceof FactError)) throw error;
    return { changes: [], errors: [...missing, error] };
  }
}

function planBy(inventory: Inventory, fleet: Fleet, mask: Masker): Plan {
  const { changes, errors } = planned(inventory, fleet);
  const shown = ({ phase, host, step, summary }: Planned): PlannedChange => ({
    phase,
    host,
    step,
    summary: mask.text(summary),
  });
  return {
    changes: changesIn(changes).map(shown),
    waits: waitsIn(changes).map(shown),
    errors: listed(errors, mask),
  };
}

/** Workers that kbuild refuses to change. Where a fact is unknown there are none: the plan reports that fact. */
function refusedOf(inventory: Inventory, fleet: Fleet): readonly LeftOut[] {
  try {
    return refusedWorkers(inventory, fleet, undefined);
  } catch (error) {
    if (error instanceof FactError) return [];
    throw error;
  }
}

/**
 * Connects to all hosts of an inventory and observes them. A host that does not answer is in `unreachable`; nothing is
 * thrown for it. Takes no lock and changes nothing. @throws the reason of `signal`, UsageError
 */
export async function connect(inventory: Inventory, options: ConnectOptions = {}): Promise<Connection> {
  const { concurrency = 1 } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new UsageError(`concurrency is a whole number of at least 1, not ${String(concurrency)}`);
  const mask = masker([inventory, secretData(inventory)]);
  const connected = await connectHosts(contextOf(options), inventory, options, {
    runId: `library-${randomUUID().slice(0, 8)}`,
    emit: () => undefined,
    log: () => undefined,
    onSecret: mask.register,
    signal: options.signal ?? new AbortController().signal,
  });
  // As `up` does: a refused worker is left out, and the plan is that of the other hosts.
  const leaveOutRefused = (): void => connected.leaveOut(refusedOf(inventory, connected.observations.fleet()));
  try {
    leaveOutRefused();
  } catch (error) {
    await connected.close();
    throw error;
  }
  return {
    inventory,
    get reached() {
      return connected.observations.fleet().hosts.map(({ host }) => host.name);
    },
    get unreachable() {
      return connected.observations
        .fleet()
        .unreachable.flatMap(({ host, error }) =>
          listed([error], mask).map((one) => ({ host: host.name, error: one })),
        );
    },
    plan: () => planBy(inventory, connected.observations.fleet(), mask),
    observe: async () => {
      await connected.observeAgain();
      leaveOutRefused();
    },
    close: connected.close,
  };
}

/** What `kbuild up` would change, by the last observation. Contacts no host. */
export const plan = (connection: Connection): Plan => connection.plan();
