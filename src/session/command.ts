import type { Context } from './context.ts';
import type { Candidates, Option, OptionValues } from './options.ts';

/** What a command takes besides options. */
interface Operand {
  /** As commander reads it: `<file>` is required, `[file]` is not, `<hosts...>` takes several. */
  readonly name: string;
  readonly summary: string;
  /** What completion proposes. Default: nothing. */
  readonly completes?: Candidates;
}

/** A command as `--help` and docs/cli.md describe it. */
export interface Declaration<Options extends readonly Option[] = readonly Option[]> {
  readonly name: string;
  /** The name that other tools have for it; it runs the same. */
  readonly alias?: string;
  /** For `--help`; in docs/cli.md `details` follow it. */
  readonly summary: string;
  /** For docs/cli.md: sentences in Markdown. */
  readonly details?: string;
  /** What it does to hosts or the cluster. */
  readonly onHosts: 'nothing' | 'reads' | 'changes';
  /** True: its results are read by a program (YAML, JSON, a script), and are never wrapped or coloured. */
  readonly printsData?: true;
  /** The inventory (`inventoryOperand`), or another operand: then only `-i` names the inventory. */
  readonly operand: Operand;
  readonly options: Options;
  /** Whole command lines. */
  readonly examples: readonly string[];
}

/** The values of a command's options. */
export type OptionsOf<D extends Declaration> = OptionValues<D['options']>;

/** Runs a command; the exit code. */
type Run<Values> = (context: Context, options: Values, operands: readonly string[]) => Promise<number>;

/** A command that can be run. */
export interface Command extends Declaration {
  /** Loads the command's code when the command is used: `kbuild --help` stays quick. */
  readonly run: () => Promise<Run<object>>;
}

/** Commands below one name, e.g. `etcd snapshot`. */
export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  /** What the name alone runs; without it, the name alone is a mistake. */
  readonly itself?: Command;
  readonly commands: readonly (Command | CommandGroup)[];
}

/** The inventory as operand. */
export const inventoryOperand: Operand = {
  name: '[inventory]',
  summary: 'inventory file, or - for standard input',
  completes: 'files',
};

/** True where the operand is the inventory. */
export const isInventoryOperand = (operand: Operand | undefined): boolean => operand?.name === inventoryOperand.name;

/** Keeps the types of the options: the code of the command gets their values. */
export const declare = <const Options extends readonly Option[]>(
  declaration: Declaration<Options>,
): Declaration<Options> => declaration;

/** A declared command with its code, which may read the declared options and no others. */
export const command = <Options extends readonly Option[]>(
  declaration: Declaration<Options>,
  run: () => Promise<Run<OptionValues<Options>>>,
): Command => ({ ...declaration, run });

/**
 * The names of all phases of `up` in their order, which `--phase` accepts. An inventory without Windows hosts has no
 * phases for them.
 */
export const UP_PHASES = [
  'prepare',
  'prepare-balancers',
  'balancer-packages',
  'load-balancer',
  'former-balancers',
  'runtime',
  'packages',
  'images',
  'windows-prepare',
  'windows-runtime',
  'windows-packages',
  'etcd-undo',
  'etcd-kubelets',
  'etcd-certificates',
  'etcd-start',
  'etcd-members',
  'reach-etcd',
  'kubelet-certificates',
  'init',
  'settings',
  'network',
  'control-planes',
  'join',
  'windows-join',
  'etcd-endpoints',
  'control-plane-files',
  'kubelets',
  'kubelet-serving',
  'nodes',
  'windows-nodes',
  'kubelet-authority',
  'objects',
  'runtime-version',
  'windows-runtime-version',
  'verify',
  'windows-verify',
  'settled',
  'dns',
] as const;
