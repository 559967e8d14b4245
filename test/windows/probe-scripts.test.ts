/**
 * Scripts that observe a host, run as they are with stand-ins for Windows' cmdlets: what they answer, and that an error of a
 * cmdlet, or a property that is missing or empty, is an error of the script. Not run here: probe-files, probe-programs and
 * probe-reach, which use .NET.
 */
import { describe, expect, test } from 'vitest';
import { scriptNames, scriptText } from './grammar.ts';
import { loadAnswers } from './host/answers.ts';
import { freshMachine } from './host/machine.ts';
import type { ScriptContext } from './host/script.ts';
import { asList } from './interpreter/operators.ts';
import { interpret, type Command } from './interpreter/interpreter.ts';
import { always, CASES, CIM, type Case, type Properties, type Stand } from './interpreter/probe-cases.ts';

/** What Windows says of a thing that is not there (ObjectNotFound). */
class Absent extends Error {}

/** What the script does not do by itself: nothing here looks at a machine. */
const COMMON: Readonly<Record<string, Command>> = {
  'Set-StrictMode': () => [],
  'Start-Sleep': () => [],
  async 'Find-Existing'({ look }) {
    try {
      return await (look as () => unknown)();
    } catch (error) {
      if (!(error instanceof Absent)) throw error;
      return [];
    }
  },
  'Get-Property': ({ of, name }) => {
    const value = (of as Properties | null)?.[name as string] ?? '';
    if (value === '') throw new Error(`Windows gave no ${name as string}`);
    return value;
  },
  'Get-PropertyOrNull': ({ of, name }) => (of as Properties | null)?.[name as string] ?? null,
};

const AUTOMATIC = {
  ExecutionContext: { SessionState: { LanguageMode: 'FullLanguage' } },
  PSVersionTable: { PSVersion: '5.1.20348.1' },
};

async function answerOf(name: string, { params = {}, stands }: Case): Promise<unknown> {
  const results: unknown[] = [];
  const commands = { ...COMMON, ...stands, 'Write-Result': ({ value }: Properties) => void results.push(value) };
  await interpret(scriptText(name), { params, environment: new Map(), commands, automatic: AUTOMATIC });
  expect(results).toHaveLength(1);
  return results[0];
}

/** The same case in which one command answers otherwise. */
const otherwise = (one: Case, name: string, stand: Stand): Case => ({
  ...one,
  stands: { ...one.stands, [name]: stand },
});

/** The properties of what each command returns while the script runs. */
async function returned(name: string, one: Case): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const keys = new Map<string, Set<string>>();
  const noted = Object.entries(one.stands).map(([command, stand]): [string, Stand] => {
    const own = new Set<string>();
    keys.set(command, own);
    return [
      command,
      (params) => {
        const value = stand(params);
        for (const each of asList(value))
          if (typeof each === 'object') for (const key of Object.keys(each!)) own.add(key);
        return value;
      },
    ];
  });
  await answerOf(name, { ...one, stands: Object.fromEntries(noted) });
  return keys;
}

/** A value without a property, or with another one in its place. */
function changed(whole: unknown, key: string, value: unknown): unknown {
  if (typeof whole !== 'object' || whole === null || !(key in whole)) return whole;
  const others = Object.entries(whole).filter(([other]) => other !== key);
  return Object.fromEntries(value === undefined ? others : [...others, [key, value]]);
}

/** Every property that a command returns, once missing, once null, once empty. */
async function lacking(name: string, one: Case): Promise<readonly (readonly [string, string, Case])[]> {
  return [...(await returned(name, one))].flatMap(([command, keys]) =>
    [...keys].flatMap((key) =>
      Object.entries({ missing: undefined, null: null, empty: '' }).map(([how, value]) => {
        const stand: Stand = (params) => changed(one.stands[command]!(params), key, value);
        return [`${command} ${key} ${how}`, key, otherwise(one, command, stand)] as const;
      }),
    ),
  );
}

/** Names of what an answer holds, in lists those of the first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, one]) => [key, shapeOf(one)])
      .toSorted(),
  );
}

const failed = async (name: string, one: Case): Promise<boolean> =>
  answerOf(name, one).then(
    () => false,
    () => true,
  );

describe.each(Object.entries(CASES))('%s', (name, one) => {
  test('answers what the model answers, in its shape', async () => {
    const machine = freshMachine('win1', '20348', '10.0.0.31');
    one.model?.(machine);
    const model = (await loadAnswers()).get(`windows/${name}`)!;
    const context = { host: { world: {} } } as unknown as ScriptContext;
    const modelled: unknown = await model(machine, one.params ?? {}, context);
    expect(shapeOf(await answerOf(name, one))).toMatchObject(shapeOf(JSON.parse(JSON.stringify(modelled))) as object);
  });

  test.each(Object.keys(one.stands))('fails where %s does', async (command) => {
    const denied = otherwise(one, command, () => {
      throw new Error('Access denied');
    });
    expect(await failed(name, denied)).toBe(true);
  });

  test('fails where a property is missing, null or empty, unless it may be', async () => {
    const passed: string[] = [];
    for (const [what, key, without] of await lacking(name, one))
      if (!(one.optional ?? []).includes(key) && !(await failed(name, without))) passed.push(what);
    expect(passed).toEqual([]);
  });
});

test.each([
  ['probe-firewall.ps1', 'Get-NetFirewallRule', { rules: [] }],
  ['probe-listeners.ps1', 'Get-NetTCPConnection', { listeners: [{ protocol: 'udp' }] }],
  ['probe-job.ps1', 'Get-ScheduledTask', { running: [], left: [] }],
  ['probe-network.ps1', 'Get-NetConnectionProfile', { networks: [] }],
  ['probe-defender.ps1', 'Get-Command', { state: 'absent' }],
  ['probe-hns.ps1', 'Get-Command', { networks: [], endpoints: [] }],
  ['probe-features.ps1', 'Get-Command', { available: false }],
])('%s: what %s does not find is absent', async (name, command, expected) => {
  const absent = otherwise(CASES[name]!, command, () => {
    throw new Absent();
  });
  expect(await answerOf(name, absent)).toMatchObject(expected);
});

test('a kubelet that does not answer is not healthy', async () => {
  const health = (stand: Stand) => answerOf('probe-kubelet-health.ps1', { stands: { 'Invoke-WebRequest': stand } });
  expect(await health(always({ StatusCode: 200 }))).toEqual({ healthy: true });
  expect(await health(always({}))).toEqual({ healthy: false });
  expect(
    await health(() => {
      throw new Error('refused');
    }),
  ).toEqual({ healthy: false });
});

test('BitLocker is absent where Windows has no such namespace, and else its error is one', async () => {
  const volume = (id: string) =>
    answerOf('probe-volume.ps1', {
      stands: {
        'Get-CimInstance': ({ classname }) => {
          if (classname === 'Win32_EncryptableVolume')
            throw Object.assign(new Error(id), { FullyQualifiedErrorId: id });
          return CIM[classname as string];
        },
      },
    });
  expect(await volume('HRESULT 0x8004100e,x')).toMatchObject({ bitLocker: 'absent' });
  await expect(volume('HRESULT 0x80041003,x')).rejects.toThrow('0x80041003');
});

test('every script that observes is run here, or uses .NET', () => {
  const others = ['probe-files.ps1', 'probe-kubelet-health.ps1', 'probe-programs.ps1', 'probe-reach.ps1'];
  expect([...Object.keys(CASES), ...others].toSorted()).toEqual(
    scriptNames.filter((name) => name.startsWith('probe-')).toSorted(),
  );
});
