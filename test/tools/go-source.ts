/** Reads what Go sources declare, by their text: the forms that gofmt leaves are few. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The folder of a Go module in the module cache, downloaded if it is not there.
 * @throws Error if the module proxy does not have this version.
 */
export function moduleFolder(module: string, version: string): string {
  const options = { cwd: tmpdir(), encoding: 'utf8', env: { ...process.env, GOWORK: 'off' } } as const;
  const { Dir } = JSON.parse(execFileSync('go', ['mod', 'download', '-json', `${module}@${version}`], options)) as {
    readonly Dir: string;
  };
  return Dir;
}

/** The version of a module that another module's go.mod requires; undefined if it does not. */
export const requiredVersion = (folder: string, module: string): string | undefined =>
  readFileSync(join(folder, 'go.mod'), 'utf8')
    .split('\n')
    .map((line) => line.trim().split(' '))
    .find(([name]) => name === module)?.[1];

/** The texts of the Go files of a folder, or of one file, without tests; empty if the path does not exist. */
export function goTexts(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const files = statSync(path).isFile()
    ? [path]
    : readdirSync(path)
        .filter((name) => name.endsWith('.go') && !name.endsWith('_test.go'))
        .map((name) => join(path, name));
  return files.map((file) => readFileSync(file, 'utf8').replaceAll(/^\s*\/\/.*$/gm, ''));
}

/** A string in the sources; a call without deeper calls than two in its arguments. */
const STRING = /"(?:[^"\\\n]|\\.)*"/.source;
const NESTED = String.raw`\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)`;

/**
 * What declares a flag: `fs.StringVar(&x, "name", …)`, `fs.Bool("name", …)`, and `register(global, local, "name", …)`, with
 * which the kubelet takes flags of cAdvisor. The name is a literal or a constant.
 */
const DECLARATION = new RegExp(
  String.raw`(?:(?:\b\w*fs|\bFlagSet\(${STRING}\))\.(?<method>(?:[A-Z]\w*)?Var)(?:PF?)?\((?<target>(?:[^"(),]|${NESTED})+),|\b\w*fs\.(?<plain>Bool|String|Int|Uint|Duration|Float64|StringSlice)\(|\bregister(?:Deprecated)?\(\w+, \w+,)\s*(?<name>${STRING}|[\w.]+)\s*,?`,
  'g',
);

/** What a flag takes. `other`: a form of its own. */
export type FlagType = 'bool' | 'int' | 'number' | 'duration' | 'text' | 'list' | 'map' | 'gates' | 'other';

/** By the method of pflag that declares the flag. */
const METHODS: readonly (readonly [RegExp, FlagType])[] = [
  [/^Bool(?:Var)?$/, 'bool'],
  [/^U?[iI]nt\d*(?:Var)?$/, 'int'],
  [/^Float\d+(?:Var)?$/, 'number'],
  [/^Duration(?:Var)?$/, 'duration'],
  [/^String(?:Var)?$/, 'text'],
  [/^(?:String|Int|IP)(?:Slice|Array)(?:Var)?$/, 'list'],
  [/^StringTo\w+(?:Var)?$/, 'map'],
];

/** By what makes the value of a flag that `Var` declares. */
const VALUES: readonly (readonly [RegExp, FlagType])[] = [
  [/MapStringBool/, 'gates'],
  [/MapString|ConfigurationMap/, 'map'],
  [/DurationVar|\bDuration\b/, 'duration'],
];

const flagType = (method: string, target: string): FlagType =>
  METHODS.find(([pattern]) => pattern.test(method))?.[1] ??
  VALUES.find(([pattern]) => pattern.test(target))?.[1] ??
  'other';

/**
 * The flags that these texts declare, as pflag normalizes their names, and what each takes. Names that the sources put
 * together when they run are not found (`--audit-log-batch-…` and `--audit-webhook-batch-…` of kube-apiserver).
 */
export function typedFlags(texts: readonly string[]): ReadonlyMap<string, FlagType> {
  const constants = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/^\s*(?:const\s+)?([a-zA-Z]\w*)\s*(?:string\s*)?= "([a-z][\w.-]*)"/gm)].map(
        ([, constant, value]) => [constant!, value!] as const,
      ),
    ),
  );
  const found = texts.flatMap((text) =>
    [...text.matchAll(DECLARATION)].map(({ groups = {} }) => {
      const { name = '', method, plain, target = '' } = groups;
      const named = name.startsWith('"') ? name.slice(1, -1) : (constants.get(name.replace(/^.*\./, '')) ?? '');
      return [named, flagType(method ?? plain ?? '', target)] as const;
    }),
  );
  return new Map(
    found
      .filter(([name]) => /^[a-z][\w.-]*$/.test(name))
      .map(([name, type]) => [name.replaceAll('_', '-'), type] as const),
  );
}

/** Names of the flags that these texts declare: see `typedFlags`. */
export const declaredFlags = (texts: readonly string[]): ReadonlySet<string> => new Set(typedFlags(texts).keys());

/** A feature gate of one version. `locked`: the only value that the component accepts; undefined: any. */
export interface Gate {
  readonly name: string;
  readonly locked: boolean | undefined;
  readonly value: boolean;
  readonly stage: 'alpha' | 'beta' | 'stable' | 'deprecated';
}

const versionNumber = (version: string): number => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major * 1000 + minor;
};

const STAGES: Readonly<Record<string, Gate['stage']>> = { Alpha: 'alpha', Beta: 'beta', Deprecated: 'deprecated' };

/** The newest specification that a version of this minor applies. */
function specificationIn(body: string, minor: string): Omit<Gate, 'name'> {
  const specs = [...body.matchAll(/\{[^{}]*\bDefault: (true|false)[^{}]*\}/g)]
    .map(([spec, value]) => ({
      since: versionNumber(/MustParse\("([\d.]+)"\)/.exec(spec)?.[1] ?? '0.0'),
      value: value === 'true',
      isLocked: /\bLockToDefault: true/.test(spec),
      stage: STAGES[/\bPreRelease: (?:\w+\.)?(\w+)/.exec(spec)?.[1] ?? ''] ?? 'stable',
    }))
    .filter(({ since }) => since <= versionNumber(minor))
    .toSorted((a, b) => a.since - b.since);
  const last = specs.at(-1);
  const value = last?.value ?? false;
  return { locked: last?.isLocked === true ? value : undefined, value, stage: last?.stage ?? 'alpha' };
}

/**
 * The feature gates that the texts register, by what a binary of this minor knows about them. A constant without a
 * specification is no gate: the component does not know it.
 */
export function declaredGates(sources: readonly string[], minor: string): ReadonlyMap<string, Gate> {
  // Old specifications have remarks behind them.
  const texts = sources.map((text) => text.replaceAll(/\},\s*\/\/.*$/gm, '},'));
  const constants = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/^\s*([A-Z]\w*)\s*(?:(?:\w+\.)?Feature\s*)?= "(\w+)"/gm)].map(
        ([, constant, name]) => [constant!, name!] as const,
      ),
    ),
  );
  const entry = /^(\t+)(?:\w+\.)?([A-Z]\w*):\s*\{(?:(.*)\},?$|\n([\s\S]*?)^\1\},?$)/gm;
  return new Map(
    texts.flatMap((text) =>
      [...text.matchAll(entry)].flatMap(([, , constant = '', inline, block]) => {
        const name = constants.get(constant);
        const body = inline === undefined ? (block ?? '') : `{${inline}}`;
        if (name === undefined || !/\bDefault:/.test(body)) return [];
        return [[name, { name, ...specificationIn(body, minor) }] as const];
      }),
    ),
  );
}

/**
 * The prerelease APIs of a module k8s.io/api that an API server of this minor serves, as `group/version Kind`, and all
 * `group/version` that it knows.
 */
export function declaredApis(
  folder: string,
  minor: string,
): { readonly kinds: ReadonlySet<string>; readonly groupVersions: ReadonlySet<string> } {
  const kinds = new Set<string>();
  const groupVersions = new Set<string>();
  const groups = readdirSync(folder, { withFileTypes: true }).filter((one) => one.isDirectory());
  for (const group of groups)
    for (const version of readdirSync(join(folder, group.name)).filter((name) => /^v\d/.test(name))) {
      const place = join(folder, group.name, version);
      const register = goTexts(join(place, 'register.go')).join('');
      const [, groupName] = /const GroupName = "([^"]*)"/.exec(register) ?? [];
      if (groupName === undefined) continue;
      const groupVersion = groupName === '' ? version : `${groupName}/${version}`;
      groupVersions.add(groupVersion);
      const [text = ''] = goTexts(join(place, 'zz_generated.prerelease-lifecycle.go'));
      const removed = new Map(
        [...text.matchAll(/\(in \*(\w+)\) APILifecycleRemoved\(\)[^{]*\{\s*return (\d+), (\d+)/g)].map(
          ([, kind, major, minorNumber]) => [kind!, versionNumber(`${major!}.${minorNumber!}`)] as const,
        ),
      );
      for (const [, kind] of register.matchAll(/&(\w+)\{\}/g))
        if ((removed.get(kind!) ?? Infinity) > versionNumber(minor) && !kind!.endsWith('List'))
          kinds.add(`${groupVersion} ${kind!}`);
    }
  return { kinds, groupVersions };
}
