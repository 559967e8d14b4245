/** What the commands of scripts that run as they are do to a simulated host; programs are the caller's. */
import { filesOf, parentOf, type Machine } from '../host/machine.ts';
import { ScriptFailure, type ScriptContext } from '../host/script.ts';
import { restartInTime, stopInTime } from '../host/services.ts';
import type { Command } from './interpreter.ts';

/** A call of Invoke-Native. */
export interface NativeCall {
  readonly exe: string;
  readonly args: readonly string[];
  readonly input: string | undefined;
}

/** Runs a program, and resolves to the lines of its stdout. @throws ScriptFailure if it fails */
export type Native = (call: NativeCall) => Promise<readonly string[]>;

const nothing = (): readonly unknown[] => [];

const text = (params: Parameters<Command>[0], name: string): string => params[name] as string;

/** What does something to the host: cmdlets, and functions of common.ps1. */
const onHost = (machine: Machine, host: ScriptContext['host'], native: Native): Readonly<Record<string, Command>> => {
  const files = filesOf(machine);
  return {
    'Invoke-Native': ({ exe, arguments: args = [], inputtext }) =>
      native({ exe: exe as string, args: args as readonly string[], input: inputtext as string | undefined }),
    'Write-TextFile': (params) => {
      files.put(text(params, 'path'), text(params, 'text'));
    },
    'Test-Path': ({ literalpath, pathtype }) =>
      pathtype === 'Leaf' ? files.get(literalpath as string) !== undefined : files.exists(literalpath as string),
    'Remove-Item': (params) => {
      files.remove(text(params, 'literalpath'));
    },
    'Remove-Tree': (params) => {
      files.removeTree(text(params, 'path'));
    },
    'New-Item': ({ path, itemtype }) => {
      if (itemtype !== 'Directory') throw new Error(`New-Item of ${String(itemtype)}`);
      files.makeFolder(path as string);
      return { FullName: path };
    },
    'Get-Service': (params) => {
      const found = machine.services.get(text(params, 'name').toLowerCase());
      return found === undefined ? nothing() : { Name: found.name, Status: found.state };
    },
    'Stop-ServiceInTime': (params) => stopInTime(machine, host, text(params, 'name')),
    'Restart-ServiceInTime': (params) => restartInTime(machine, host, text(params, 'name')),
    'Get-HnsNetworkByName': (params) => machine.networks.filter(({ name }) => name === params['name']),
    'Get-HnsSubnet': ({ network }) => String((network as Readonly<Record<string, unknown>>)['subnet']),
  };
};

/** What only reckons. */
const PURE: Readonly<Record<string, Command>> = {
  'Set-StrictMode': nothing,
  'Split-Path': (params) => parentOf(text(params, 'path')),
  'Find-Existing': ({ look }) => (look as () => unknown)(),
  'ConvertTo-Json': ({ inputobject }) => JSON.stringify(inputobject),
  'ConvertFrom-Json': (params) => JSON.parse(text(params, 'inputobject')) as unknown,
  'Get-Property': ({ of, name }) => {
    const value = (of as Readonly<Record<string, unknown>>)[name as string] ?? '';
    if (value === '') throw new ScriptFailure(`Windows gave no ${name as string}`);
    return value;
  },
};

/** Every command for one run of a script; `result` gets what Write-Result is given. */
export const commandsOn = (
  machine: Machine,
  { host }: Pick<ScriptContext, 'host'>,
  about: {
    readonly native: Native;
    readonly environment: Map<string, string>;
    readonly result: (value: unknown) => void;
  },
): Readonly<Record<string, Command>> => ({
  ...PURE,
  ...onHost(machine, host, about.native),
  'Set-Item': (params) => {
    const path = text(params, 'path');
    if (!path.startsWith('Env:')) throw new Error(`Set-Item of ${path}`);
    const name = path.slice(4);
    for (const key of about.environment.keys())
      if (key.toLowerCase() === name.toLowerCase()) about.environment.delete(key);
    about.environment.set(name, text(params, 'value'));
  },
  'Write-Result': ({ value }) => {
    about.result(value);
  },
});
