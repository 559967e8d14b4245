import { beforeAll, describe, expect, test } from 'vitest';
import type { Node } from 'web-tree-sitter';
import { type Answer, factsFrom } from '../../src/cluster/fleet/framed-script.ts';
import { windowsProbes } from '../../src/cluster/fleet/windows.ts';
import { FactError } from '../../src/errors.ts';
import { decodePayload } from '../../src/shell/powershell.ts';
import { podScript } from '../../src/templates.ts';
import { cp1, inventoryOf } from '../fakes/cluster.ts';
import { watched } from '../fakes/facts.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';
import { nodesOf, powershellParser, scriptNames, scriptText } from './grammar.ts';
import { loadAnswers } from './host/answers.ts';
import { addService, filesOf, freshMachine } from './host/machine.ts';
import type { ScriptContext } from './host/script.ts';

let parse: (text: string) => Node;

beforeAll(async () => {
  parse = await powershellParser();
});

/**
 * Objects whose properties are read directly, because they are there by their type: what kbuild sends itself, what .NET and the file
 * system make, error records, and PowerShell's own. All else is what a cmdlet returned, and goes through Get-Property.
 */
const BY_THEIR_TYPE: readonly RegExp[] = [
  /^\$(?:target|program|probe|Section|section|variable|one|file|File|move|Other|other|kb_\w+)\.(?:host|port|path|name|arguments|exits|kind|lines|title|match|value|text|script|params|fact|from|to|aside|process|started|holder|common|PSObject)\b/,
  /^\$(?:Item|item|child|old|other|file)\.(?:FullName|Name|LastWriteTime|PSIsContainer|Attributes|Length)$/,
  /^\$(?:_|Failure)\.(?:Exception|CategoryInfo|FullyQualifiedErrorId|InvocationInfo|ScriptStackTrace)\b/,
  /^\$(?:process|Process|start|answer|output|errors|why|reading|kb_\w+|holder|mark)\./,
  /\.(?:Count|Length)$/,
  /^\$(?:Of|Object)\.PSObject\b|^\$(?:property|rule|session\.PSObject|problems|tokens|tree|ExecutionContext|PSVersionTable)\b/,
  /^\$record\.(?:LevelDisplayName|ProviderName|Message)$/,
  // A method of nothing throws.
  /^\(Get-Acl -LiteralPath \$Path\)\.GetOwner$/,
  // Names of values of a key, a span of time, and what kbuild itself sent as JSON.
  /^\(Get-Item -LiteralPath .*\)\.Property$|^\(\$now - .*\)\.TotalMilliseconds$|^\(ConvertFrom-Json -InputObject \$Files\)\.files$/,
  // The names of what Get-ScheduledTask found, to unregister them.
  /^\$(?:old|one|_)\.(?:TaskName|FullName|name)$/,
];

/** Reads of properties in a script that no guard sees. */
const directReads = (text: string): readonly string[] =>
  nodesOf(parse(text), 'member_access')
    .filter(({ parent }) => parent?.type !== 'member_access')
    .map((node) => node.text)
    .filter((read) => /^[$(]/.test(read) && !BY_THEIR_TYPE.some((may) => may.test(read)));

describe('a property that is missing is not read as 0 or as an empty text', () => {
  test.each(scriptNames.filter((name) => name !== 'bootstrap.ps1'))(
    '%s reads what cmdlets return by guards',
    (name) => {
      expect(directReads(scriptText(name))).toEqual([]);
    },
  );

  test('a read without a guard is found', () => {
    expect(directReads('$s = Get-CimInstance -ClassName X\n[int]$s.ProcessId')).toEqual(['$s.ProcessId']);
    expect(directReads('[string](Get-Service -Name X).Status')).toEqual(['(Get-Service -Name X).Status']);
  });

  test('kube-proxy.ps1 in pods reads what HNS gives by guards, and looks again where a look fails', () => {
    const text = podScript('kube-proxy.ps1');
    expect(text).not.toMatch(/\$_\.(?!Exception\b)|\.Subnets\b|\[0\]\.(?!PSObject\b)/);
    const looks = text.match(/Get-Hns(?:Network|Endpoint) \|/g)!;
    expect(text.match(/try \{ \$\w+ = @\(Get-Hns(?:Network|Endpoint) \|/g)).toHaveLength(looks.length);
  });

  test('a look at HNS that fails does not end a wait', () => {
    expect(scriptText('wait-hns-network.ps1')).toMatch(
      /try \{ \$found = @\(Get-HnsNetworkByName[^\n]*\}\n {4}catch \{\n {8}if \(\$late\) \{ throw \}/,
    );
  });

  test('the guard throws for what is missing, null and empty', () => {
    const guard = nodesOf(parse(scriptText('common.ps1')), 'function_statement').find(({ text }) =>
      text.startsWith('function Get-Property '),
    )!;
    expect(guard.text).toContain(`if ("$value" -eq '') { throw "Windows gave no $Name" }`);
  });

  // A property may be missing where Windows has machines without it, and where kbuild does not need it.
  test('only these may be missing', () => {
    const optional = scriptNames
      .filter((name) => name.startsWith('probe-'))
      .map((name) => [
        name,
        [...scriptText(name).matchAll(/Get-PropertyOrNull -Of (?:\S+|\(Get-\w+\)) -Name '(\w+)'/g)].map(
          ([, one]) => one,
        ),
      ])
      .filter(([, names]) => names!.length > 0);
    expect(Object.fromEntries(optional)).toEqual({
      'probe-defender.ps1': ['ExclusionProcess'],
      'probe-hns.ps1': ['ID', 'Name', 'Type', 'ManagementIP', 'ID', 'Name', 'VirtualNetworkName', 'IPAddress'],
      'probe-machine.ps1': ['Manufacturer', 'Model'],
      'probe-network.ps1': ['InterfaceDescription', 'MacAddress', 'InterfaceAlias'],
    });
  });
});

const host = windowsHost('win1');
const inventory = inventoryOf({ hosts: [cp1, host], network: mixedFlannel() });
const probes = windowsProbes(inventory, host, watched(inventory)(host));
const context = { host: { world: {} } } as unknown as ScriptContext;
const asked = { middleMs: 0 };

/** What every probe answers on a machine that has something of everything. */
async function answersOfAll(): Promise<ReadonlyMap<string, unknown>> {
  const machine = freshMachine('win1', '20348', host.internalAddress);
  machine.networks.push({ id: '1', name: 'flannel.4096', type: 'Overlay', subnet: '10.244.3.0/24' });
  machine.endpoints.push({ id: '2', name: 'e', type: '', network: 'flannel.4096', address: '10.244.3.2' });
  machine.firewall.set('kbuild-kubelet', { name: 'kbuild-kubelet', protocol: 'TCP', ports: ['10250'] });
  machine.extra.set('listeners', [{ protocol: 'tcp', port: 10250, program: 'kubelet' }]);
  machine.tasks.set('kbuild-restart', { name: 'kbuild-restart', state: 'Ready', lastResult: 0 });
  addService(machine, { name: 'containerd', path: 'x', state: 'Running', parameters: { Application: 'y' } });
  filesOf(machine).put('C:\\Program Files\\containerd\\config.toml', 'x');
  filesOf(machine).put('C:\\Program Files\\containerd\\containerd.exe', 'MZ containerd v2.3.5\nEND');
  const known = await loadAnswers();
  return new Map(
    Object.entries(probes).map(([fact, { command }]) => {
      const { name, params } = decodePayload(command.script);
      return [fact, known.get(name)!(machine, params, context)];
    }),
  );
}

const factsOf = (answers: ReadonlyMap<string, unknown>, failed: Readonly<Record<string, string>> = {}) =>
  factsFrom(
    'win1',
    probes,
    Object.fromEntries(
      [...answers].map(([fact, value]): [string, Answer] => [
        fact,
        failed[fact] === undefined ? { stdout: JSON.stringify(value ?? null) } : { failed: failed[fact] },
      ]),
    ),
    asked,
  );

/** Names of facts that cannot be read. */
const unknownIn = (facts: object): readonly string[] =>
  Object.keys(probes).filter((fact) => {
    try {
      return (facts as Readonly<Record<string, unknown>>)[fact] === undefined;
    } catch (error) {
      if (!(error instanceof FactError)) throw error;
      return true;
    }
  });

/** An answer, once for each property in it, without that property or with null in its place. */
function* lacking(value: unknown, path = ''): Generator<readonly [string, unknown]> {
  if (Array.isArray(value)) {
    for (const [i, one] of value.slice(0, 1).entries())
      for (const [where, changed] of lacking(one, `${path}[]`))
        yield [where, value.map((old: unknown, at) => (at === i ? changed : old))];
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    const rest = Object.fromEntries(Object.entries(value).filter(([other]) => other !== key));
    yield [`${path}.${key} missing`, rest];
    yield [`${path}.${key} null`, { ...value, [key]: null }];
    for (const [where, changed] of lacking(one, `${path}.${key}`)) yield [where, { ...value, [key]: changed }];
  }
}

/** Keys that answers of the model have beyond those of the script: nothing reads them. */
const ONLY_IN_THE_MODEL = /\.(?:becomes|isMarked)\b/;

describe('an answer that is not what a probe wants', () => {
  test.each(Object.keys(probes))('%s throws: only that fact is unknown', async (fact) => {
    expect(unknownIn(factsOf(await answersOfAll()))).toEqual([]);
    expect(unknownIn(factsOf(await answersOfAll(), { [fact]: 'Access denied' }))).toEqual([fact]);
  });

  test.each(Object.keys(probes))('%s, with each property missing or null: only that fact is unknown', async (fact) => {
    const answers = await answersOfAll();
    const changed = [...lacking(answers.get(fact)), ['nothing', null] as const, ['a text', ''] as const];
    const passed = changed
      .filter(([where]) => !ONLY_IN_THE_MODEL.test(where))
      .filter(([, value]) => unknownIn(factsOf(new Map([...answers, [fact, value]]))).join() !== fact)
      .map(([where]) => where);
    expect(passed).toEqual([]);
  });
});
