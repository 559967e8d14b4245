/**
 * `npm run tables:types`: writes templates/tables/kubernetes.json from the Go modules of Kubernetes and etcd: what
 * kubeadm, the kubelet, kube-proxy and the components of the control plane take. Needs Go.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { flagSources, folderOf, gateSources, readerOf, type Release, RELEASES } from './component-sources.ts';
import { declaredGates, type Gate, goTexts, typedFlags } from './go-source.ts';
import { type GoTypes, reachedTypes } from './go-types.ts';

const TARGET = fileURLToPath(new URL('../../templates/tables/kubernetes.json', import.meta.url));

/** What operators copy from older files: what it knew and the releases do not is said to be removed. */
const OLD: Release = { minor: '1.23', kubernetes: '1.23.17', etcd: RELEASES[0]!.etcd };

/** The last release with kubeadm's API v1beta3. */
const V1BETA3 = RELEASES.find(({ minor }) => minor === '1.36')!;

const KUBEADM = 'cmd/kubeadm/app/apis/kubeadm';
const ROOTS = ['ClusterConfiguration', 'InitConfiguration', 'JoinConfiguration'];

/** The folder of a package of Kubernetes; undefined for one of another project. */
const packageOf =
  (release: Release) =>
  (path: string): string | undefined => {
    const [, module, rest = ''] = /^k8s\.io\/([a-z-]+)\/(.+)$/.exec(path) ?? [];
    return module === undefined ? undefined : join(folderOf(release, module), rest);
  };

/** Values of types of kube-proxy whose constants stand elsewhere: pkg/proxy/apis/config/types.go of each release. */
const PROXY_ENUMS = ['ProxyMode', 'LocalMode'];

const typesOf = (release: Release, module: string, folder: string, roots: readonly string[]): GoTypes =>
  reachedTypes(join(folderOf(release, module), folder), roots, packageOf(release), PROXY_ENUMS);

const componentTypes = (release: Release): readonly GoTypes[] => [
  typesOf(release, 'kubelet', 'config/v1beta1', ['KubeletConfiguration']),
  typesOf(release, 'kube-proxy', 'config/v1alpha1', ['KubeProxyConfiguration']),
];

/**
 * What a pod can have beside the types of the components, for patches: without documentation, which nothing prints, and
 * with any text for an enumeration, since some of them are open.
 */
function podTypes(release: Release): GoTypes {
  const known = componentTypes(release).flatMap(({ types }) => [...types.keys()]);
  const { types, enums } = typesOf(release, 'api', 'core/v1', ['PodSpec']);
  const plain = (type: string): string => type.replace(/\w+$/, (name) => (enums.has(name) ? 'text' : name));
  return {
    enums: new Map(),
    types: new Map(
      [...types]
        .filter(([name]) => !known.includes(name))
        .map(([name, fields]) => [
          name,
          new Map([...fields].map(([field, { type }]) => [field, { type: plain(type), doc: '' }])),
        ]),
    ),
  };
}

/** What has types, by the name that a range gives it: a minor of `RELEASES`, or something older. */
const typed: readonly (readonly [label: string, types: readonly GoTypes[]])[] = [
  ['1.23', componentTypes(OLD)],
  ['v1beta2', [typesOf(OLD, 'kubernetes', `${KUBEADM}/v1beta2`, ROOTS)]],
  ['v1beta3', [typesOf(V1BETA3, 'kubernetes', `${KUBEADM}/v1beta3`, ROOTS)]],
  ...RELEASES.map(
    (release) =>
      [
        release.minor,
        [
          ...componentTypes(release),
          typesOf(release, 'kubernetes', `${KUBEADM}/v1beta4`, [...ROOTS, 'ResetConfiguration']),
          podTypes(release),
        ],
      ] as const,
  ),
];

/**
 * Where something is known: empty for all of `RELEASES`, `35-`, `-35`, `34-35` for some of them, `=1.23` or
 * `=v1beta2,v1beta3` for what only older ones knew. @throws Error for what was taken out and came back
 */
function range(labels: ReadonlySet<string>): string {
  const minors = RELEASES.map(({ minor }) => minor);
  const known = minors.filter((minor) => labels.has(minor));
  if (known.length === 0) return `=${[...labels].join(',')}`;
  const first = minors.indexOf(known[0]!);
  const last = minors.indexOf(known.at(-1)!);
  if (known.length !== last - first + 1) throw new Error(`known in ${known.join(', ')} alone`);
  const number = (index: number) => minors[index]!.slice(2);
  if (first === 0 && last === minors.length - 1) return '';
  return `${first === 0 ? '' : number(first)}-${last === minors.length - 1 ? '' : number(last)}`;
}

/** Collects under which labels each item of several lists stands. */
function ranges(
  lists: readonly (readonly [label: string, items: Iterable<string>])[],
): Readonly<Record<string, string>> {
  const labels = new Map<string, Set<string>>();
  for (const [label, items] of lists)
    for (const item of items) labels.set(item, (labels.get(item) ?? new Set()).add(label));
  return Object.fromEntries([...labels].map(([item, known]) => [item, range(known)] as const).toSorted(byName));
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1);

/** Each field as type, range and documentation, newest first; several where its type changed. */
function fieldTable(): Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> {
  const fields = new Map<string, Map<string, Map<string, { readonly labels: Set<string>; readonly doc: string }>>>();
  for (const [label, all] of typed.toReversed())
    for (const [type, members] of all.flatMap(({ types }) => [...types]))
      for (const [name, { type: of, doc }] of members) {
        const inType = fields.get(type) ?? new Map<string, never>();
        fields.set(type, inType);
        const variants = inType.get(name) ?? new Map<string, never>();
        inType.set(name, variants);
        const found = variants.get(of);
        variants.set(of, { labels: (found?.labels ?? new Set()).add(label), doc: found?.doc ?? doc });
      }
  return Object.fromEntries(
    [...fields]
      .map(([type, members]) => {
        const rows = [...members].map(([name, variants]) => {
          const row = [...variants].flatMap(([of, { labels, doc }]) => {
            const where = range(labels);
            return [of, where, where.startsWith('=') ? '' : doc];
          });
          return [name, row] as const;
        });
        return [type, Object.fromEntries(rows)] as const;
      })
      .toSorted(byName),
  );
}

const proxyValues = (release: Release, type: string): readonly string[] =>
  goTexts(join(folderOf(release, 'kubernetes'), 'pkg/proxy/apis/config/types.go')).flatMap((text) =>
    [...text.matchAll(new RegExp(`^\\s+\\w+\\s+${type} = "([^"]+)"`, 'gm'))]
      .map(([, value]) => value!)
      // The mode of Windows hosts, where kbuild sets it.
      .filter((value) => value !== 'kernelspace'),
  );

function enumTable(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const names = new Set(typed.flatMap(([, all]) => all.flatMap(({ enums }) => [...enums.keys()])));
  const found = [...names].map(
    (name) =>
      [
        name,
        ranges(typed.map(([label, all]) => [label, all.flatMap(({ enums }) => enums.get(name) ?? [])] as const)),
      ] as const,
  );
  const ofProxy = PROXY_ENUMS.map(
    (name) =>
      [
        name,
        ranges([OLD, ...RELEASES].map((release) => [release.minor, proxyValues(release, name)] as const)),
      ] as const,
  );
  return Object.fromEntries([...found, ...ofProxy].toSorted(byName));
}

/** Flags of kube-apiserver whose names its sources put together: pkg/server/options/audit.go of k8s.io/apiserver. */
const AUDIT = ['log', 'webhook'].flatMap((name): readonly (readonly [string, string])[] => [
  [`audit-${name}-mode`, 'text'],
  [`audit-${name}-batch-buffer-size`, 'int'],
  [`audit-${name}-batch-max-size`, 'int'],
  [`audit-${name}-batch-max-wait`, 'duration'],
  [`audit-${name}-batch-throttle-enable`, 'bool'],
  [`audit-${name}-batch-throttle-qps`, 'number'],
  [`audit-${name}-batch-throttle-burst`, 'int'],
  [`audit-${name}-truncate-enabled`, 'bool'],
  [`audit-${name}-truncate-max-batch-size`, 'int'],
  [`audit-${name}-truncate-max-event-size`, 'int'],
  [`audit-${name}-version`, 'text'],
]);

/** Flags that stand in files which declare others, or none, and which every version has. */
const MORE: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  'kube-apiserver': [
    ...AUDIT,
    // plugin/pkg/admission/defaulttolerationseconds
    ['default-not-ready-toleration-seconds', 'int'],
    ['default-unreachable-toleration-seconds', 'int'],
  ],
  etcd: [['feature-gates', 'gates']],
};

/** Flags of code that components share, which this one does not add. */
const NOT_ADDED: Readonly<Record<string, RegExp>> = {
  'kube-apiserver':
    /^(?:authentication-(?:kubeconfig|skip-lookup|tolerate-lookup-failure)|authorization-(?:kubeconfig|always-allow-paths)|kubeconfig)$/,
  kubelet:
    /^(?:allow-metric-labels.*|disabled-metrics|emulated-version|min-compatibility-version|show-hidden-metrics-for-version)$/,
};

/** The components whose flags an inventory can have. */
const COMPONENTS = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'etcd'];

/** Each flag as its type and range. */
function flagTable(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const of = (component: string) => {
    const source = flagSources[component]!;
    const releases = component === 'etcd' ? RELEASES : [OLD, ...RELEASES];
    const found = releases.map(
      (release) =>
        [
          release.minor,
          new Map<string, string>(
            [...typedFlags(source(readerOf(release))), ...(MORE[component] ?? [])].filter(
              ([name]) => NOT_ADDED[component]?.test(name) !== true,
            ),
          ),
        ] as const,
    );
    const types = new Map(found.flatMap(([, flags]) => [...flags]));
    return Object.fromEntries(
      Object.entries(ranges(found.map(([minor, flags]) => [minor, flags.keys()] as const))).map(([name, where]) => [
        name,
        `${types.get(name)!} ${where}`.trim(),
      ]),
    );
  };
  return Object.fromEntries(COMPONENTS.map((component) => [component, of(component)]));
}

const STAGES: Readonly<Record<Gate['stage'], string>> = { alpha: 'a', beta: 'b', stable: 's', deprecated: 'd' };

/** Each gate as one word a release, the old one first: `.` where it is not known, else stage, default, `!` if locked. */
function gateTable(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const word = (gate: Gate | undefined): string =>
    gate === undefined ? '.' : `${STAGES[gate.stage]}${gate.value ? '+' : '-'}${gate.locked === undefined ? '' : '!'}`;
  return Object.fromEntries(
    Object.entries(gateSources).map(([set, source]) => {
      const found = [OLD, ...RELEASES].map((release) => declaredGates(source(readerOf(release)), release.minor));
      const names = new Set(found.flatMap((gates) => [...gates.keys()]));
      return [
        set,
        Object.fromEntries(
          [...names].toSorted().map((name) => [name, found.map((gates) => word(gates.get(name))).join(' ')]),
        ),
      ];
    }),
  );
}

/** Names of the admission plugins of a release, in no order. */
function pluginsOf(release: Release): readonly string[] {
  const text = goTexts(join(folderOf(release, 'kubernetes'), 'pkg/kubeapiserver/options/plugins.go')).join('\n');
  const imports = new Map(
    [...text.matchAll(/^\s+(?:(\w+) )?"(k8s\.io\/[\w./-]+)"$/gm)].map(
      ([, alias, path]) => [alias ?? path!.split('/').at(-1)!, path!] as const,
    ),
  );
  const [, list = ''] = /AllOrderedPlugins = \[\]string\{([\s\S]*?)\n\}/.exec(text) ?? [];
  return [...list.matchAll(/^\s*(\w+)\.PluginName,/gm)].map(([, alias]) => {
    const folder = packageOf(release)(imports.get(alias!)!)!;
    const [, name] = /\bPluginName\s*=\s*"(\w+)"/.exec(goTexts(folder).join('\n')) ?? [];
    if (name === undefined) throw new Error(`${folder} has no PluginName`);
    return name;
  });
}

/** The phases of a command of kubeadm: `certs`, `certs/ca`. */
function phasesOf(release: Release, command: string): readonly string[] {
  const app = join(folderOf(release, 'kubernetes'), 'cmd/kubeadm/app');
  const [main = ''] = goTexts(join(app, `cmd/${command}.go`));
  const files = goTexts(join(app, `cmd/phases/${command}`));
  const named = (text: string): readonly string[] =>
    [...text.matchAll(/\b[nN]ame:\s*"([a-z][\w-]*)(?: [^"]*)?"/g)].map(([, name]) => name!);
  const certificates = named(goTexts(join(app, 'phases/certs/certlist.go')).join('\n'));
  const tops = [...main.matchAll(/AppendPhase\((?:\w+\.)?(New\w+)\(/g)].map(([, maker]) => {
    const file = files.find((text) => text.includes(`func ${maker!}(`));
    if (file === undefined) throw new Error(`kubeadm ${command}: no ${maker!}`);
    return { file, name: named(file.slice(file.indexOf(`func ${maker!}(`)))[0]! };
  });
  const names = new Set(tops.map(({ name }) => name));
  return tops.flatMap(({ file, name }) => [
    name,
    ...(name === 'certs' ? [...certificates, ...named(file)] : named(file))
      .filter((inner) => !names.has(inner) && named(file)[0] === name)
      .map((inner) => `${name}/${inner}`),
  ]);
}

const each = (of: (release: Release) => Iterable<string>): Readonly<Record<string, string>> =>
  ranges(RELEASES.map((release) => [release.minor, of(release)] as const));

const tables = {
  releases: RELEASES.map(({ minor, kubernetes, etcd }) => ({ minor, kubernetes, etcd })),
  old: OLD.kubernetes,
  types: fieldTable(),
  enums: enumTable(),
  flags: flagTable(),
  gates: gateTable(),
  plugins: each(pluginsOf),
  phases: Object.fromEntries(
    ['init', 'join', 'reset'].map((command) => [command, each((release) => phasesOf(release, command))]),
  ),
};

/** JSON with a line for each entry of an object's objects, so that differences show what changed. */
const lines = (value: unknown, depth = 0): string =>
  typeof value !== 'object' || value === null || Array.isArray(value) || depth > 2
    ? JSON.stringify(value)
    : `{\n${Object.entries(value)
        .map(([key, inner]) => `${' '.repeat(depth + 1)}${JSON.stringify(key)}: ${lines(inner, depth + 1)}`)
        .join(',\n')}\n${' '.repeat(depth)}}`;

mkdirSync(dirname(TARGET), { recursive: true });
writeFileSync(TARGET, `${lines(tables)}\n`);
