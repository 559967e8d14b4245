import { Command, Option } from 'commander';
import { processContext, type Context } from './context.ts';
import { count, duration, filledList, list, type Flags } from './flags.ts';

type Runner = (context: Context, flags: Flags, operands: readonly string[]) => Promise<number>;

/** Commands that print one document and nothing else. */
const PRINTS_ITS_RESULT: ReadonlySet<string> = new Set(['init', 'schema']);

/** Loaded when a command is used, not before: `kbuild --help` stays quick. */
const runners: Readonly<Record<string, () => Promise<Runner>>> = {
  init: async () => (await import('./init.ts')).runInit,
  validate: async () => (await import('./validate.ts')).runValidate,
  schema: async () => (await import('./schema.ts')).runSchema,
  check: async () => (await import('./check.ts')).runCheck,
  plan: async () => (await import('./plan.ts')).runPlan,
  up: async () => (await import('./up.ts')).runUp,
  status: async () => (await import('./status.ts')).runStatus,
  kubeconfig: async () => (await import('./kubeconfig.ts')).runKubeconfig,
  remove: async () => (await import('./remove.ts')).runRemove,
  save: async () => (await import('./etcd.ts')).runSave,
  restore: async () => (await import('./restore.ts')).runRestore,
  reset: async () => (await import('./reset.ts')).runReset,
  selftest: async () => (await import('./selftest.ts')).runSelftest,
  facts: async () => (await import('./facts.ts')).runFacts,
  unlock: async () => (await import('./unlock.ts')).runUnlock,
};

const examples = (...lines: readonly string[]): string => `\nExamples:\n${lines.map((line) => `  ${line}\n`).join('')}`;

/** The commands with their flags; `done` gets the exit code. */
export function program(version: string, done: (code: number) => void): Command {
  const root = new Command('kbuild')
    .description('Turns an inventory of bare hosts into a production Kubernetes cluster with kubeadm, over SSH.')
    .version(version)
    .exitOverride()
    .addHelpText(
      'after',
      examples('kbuild init > inventory.yaml', 'kbuild check inventory.yaml', 'kbuild up inventory.yaml'),
    );

  const command = (name: string, description: string, ...shown: readonly string[]): Command =>
    taking(root, name, ['[inventory]', 'inventory file, or - for standard input'], description, ...shown);
  /** A command below `parent`; an operand of another kind leaves the inventory to its flag. */
  const taking = (
    parent: Command,
    name: string,
    operand: readonly [name: string, description: string],
    description: string,
    ...shown: readonly string[]
  ): Command => {
    const made = parent
      .command(name)
      .description(description)
      .argument(...operand)
      .option('-i, --inventory <file>', 'inventory file (default: $KBUILD_INVENTORY, then ./inventory.yaml)')
      .option('--no-color', 'no colours (NO_COLOR and CI are honoured)')
      .addHelpText('after', examples(...shown));
    if (!PRINTS_ITS_RESULT.has(name)) {
      if (name !== 'kubeconfig') made.option('--json', 'results as JSON on standard output, nothing else');
      made.option('-q, --quiet', 'say only what went wrong');
    }
    return made.action(async (first: string | undefined) => {
      const isInventory = operand[0] === '[inventory]' && first !== undefined;
      const flags: Flags = { ...made.opts<Flags>(), ...(isInventory ? { inventory: first } : {}) };
      const context = processContext({ inventoryOnStdin: flags.inventory === '-' });
      done(await (await runners[name]!())(context, flags, made.args));
    });
  };
  const touching = (made: Command): Command =>
    made
      .addOption(
        new Option('-v, --verbose', 'a line for every command and every phase of a host; no tree').conflicts('quiet'),
      )
      .option('--concurrency <n>', 'hosts at once (default 30)', count)
      .option('--accept-new-host-keys', 'record unknown host keys; changed ones are refused all the same')
      .option('--log-file <path>', "the run's full log, 0600 (default: $XDG_STATE_HOME/kbuild/<cluster>/)");
  const hosts = (made: Command): Command =>
    made.option('--hosts <names>', 'only these hosts are changed or shown; patterns with * work', filledList);
  const phase = (made: Command): Command => made.option('--phase <names>', 'only these phases', filledList);
  const dead = (made: Command): Command =>
    made.option('--dead <names>', 'these hosts are gone: they may be missing, and what needs them waits', filledList);
  const draining = (made: Command): Command =>
    dead(made)
      .option('--drain-timeout <duration>', 'how long pods may take to leave a node (default 5m)', duration)
      .option('--no-drain', 'do not drain nodes');
  const ignoring = (made: Command): Command =>
    made.option('--ignore-check <names>', 'these findings become warnings', filledList);

  command(
    'init',
    'Write a commented inventory, to standard output or to a new file',
    'kbuild init > inventory.yaml',
    'kbuild init prod.yaml --control-plane 10.0.0.11 --worker 10.0.0.21,w2=10.0.0.22',
  )
    .option('--name <name>', 'name of the cluster')
    .option('--kubernetes <version>', 'exact version, e.g. 1.36.3')
    .option('--control-plane <hosts>', '[name=]address[/internalAddress], several with commas', list)
    .option('--worker <hosts>', 'the same for workers', list)
    .option('--endpoint <host:port>', 'where the API is reached: a load balancer or a name of your own')
    .option('--virtual-address <address>', 'a free address that kbuild moves between the control planes (keepalived)')
    .option('--user <name>', 'user for SSH')
    .option('--identity-file <path>', 'private key for SSH');
  command('validate', 'Report every problem of the inventory with its line', 'kbuild validate inventory.yaml');
  command('schema', 'Print the JSON Schema of the inventory', 'kbuild schema > inventory.schema.json');
  const before = (made: Command): Command => ignoring(dead(hosts(touching(made))));
  before(
    command(
      'check',
      'Run every preflight check; changes nothing',
      'kbuild check',
      'kbuild check --json | jq .findings',
      'kbuild check --active --junit check.xml',
    ),
  )
    .option('--active', 'survey too: the ways between hosts, disks for etcd, downloads')
    .option('--junit <file>', 'write the findings as JUnit XML');
  before(
    phase(
      command(
        'plan',
        'Show what up would change; changes nothing',
        'kbuild plan',
        'kbuild plan --diff',
        'kbuild plan --detailed-exitcode',
      ),
    ),
  )
    .option('--diff', 'show contents too')
    .option('--detailed-exitcode', 'exit 10 when changes are due');
  before(
    phase(
      command(
        'up',
        'Make it so: check, plan, ask, change, verify',
        'kbuild up',
        'kbuild up --yes',
        "kbuild up --hosts 'w*'",
        'kbuild up --dead cp2',
      ),
    ),
  )
    .option('--yes', 'do not ask, also when the plan grew under the lock')
    .option('--kubeconfig <path>', 'where to write the admin kubeconfig (default ./<name>.kubeconfig)')
    .option('--bundle <file>', 'on failure, write a support bundle (tar.gz, secrets masked)')
    .option('--timeout <duration>', "the whole run's deadline, e.g. 30m", duration);
  touching(
    command(
      'status',
      'The cluster as it is: nodes, etcd, certificates, drift',
      'kbuild status',
      'kbuild status --json',
    ),
  ).option('--bundle <file>', 'write a support bundle (tar.gz, secrets masked)');
  touching(
    command(
      'kubeconfig',
      'Print an admin kubeconfig',
      'kbuild kubeconfig > admin.conf',
      'kbuild kubeconfig --merge ~/.kube/config',
    ),
  ).option('--merge <path>', 'merge it into this file instead');
  draining(
    touching(
      taking(
        root,
        'remove',
        ['<hosts...>', 'hosts of the inventory, or nodes that it no longer names'],
        'Take hosts out of the live cluster, their etcd members included',
        'kbuild remove w3',
        'kbuild remove cp2 -i prod.yaml',
        'kbuild remove cp2 --dead cp2',
      ),
    ),
  )
    .option('--yes', 'do not ask, also when the plan grew under the lock')
    .option('--bundle <file>', 'on failure, write a support bundle (tar.gz, secrets masked)')
    .option('--timeout <duration>', "the whole run's deadline, e.g. 30m", duration);
  const snapshot = root
    .command('etcd')
    .description("The cluster's data")
    .command('snapshot')
    .description('Snapshots of etcd');
  touching(
    taking(
      snapshot,
      'save',
      ['[file]', 'where to; default: a new file in $XDG_STATE_HOME/kbuild/<cluster>/snapshots'],
      'Save a verified snapshot of the live etcd',
      'kbuild etcd snapshot save',
      'kbuild etcd snapshot save prod.db -i prod.yaml',
    ),
  );
  dead(
    touching(
      taking(
        snapshot,
        'restore',
        ['<file>', 'the snapshot'],
        'Put the whole control plane back to a snapshot of it',
        'kbuild etcd snapshot restore prod.db -i prod.yaml',
        'kbuild etcd snapshot restore prod.db -i prod.yaml --dead cp2,cp3',
      ),
    ),
  )
    .option('--yes', 'do not ask')
    .option('--bundle <file>', 'on failure, write a support bundle (tar.gz, secrets masked)')
    .option('--timeout <duration>', "the whole run's deadline, e.g. 30m", duration);
  const windows = root.command('windows').description('Windows workers (simulated; never run on Windows hardware)');
  touching(
    taking(
      windows,
      'selftest',
      ['[inventory]', 'inventory file, or - for standard input'],
      'Try every way that bytes go to and from Windows pods; makes and removes one namespace',
      'kbuild windows selftest',
      'kbuild windows selftest --os linux',
      'kbuild windows selftest --json | jq .rows',
    ),
  )
    .option('--os <system>', 'windows, or linux: the same flows on Linux nodes (default: windows)')
    .option('--outside <host:port>', 'what pods reach outside the cluster (default: the API endpoint)')
    .option('--timeout <duration>', 'how long the pods may take to run (default 20m)', duration);
  const forReset = (made: Command): Command => draining(hosts(touching(made)));
  forReset(
    command(
      'reset',
      'Tear the cluster down, or clean hosts',
      'kbuild reset',
      'kbuild reset --hosts w3',
      'kbuild reset --yes-destroy prod',
    ),
  )
    .option('--yes-destroy <name>', 'the name that would have to be typed')
    .option('--bundle <file>', 'on failure, write a support bundle (tar.gz, secrets masked)')
    .option('--timeout <duration>', "the whole run's deadline, e.g. 30m", duration);
  hosts(touching(command('facts', 'What was observed, as JSON', 'kbuild facts --hosts cp1')));
  touching(command('unlock', 'Show who holds the lock', 'kbuild unlock', 'kbuild unlock --force')).option(
    '--force',
    'free it',
  );
  return root;
}
