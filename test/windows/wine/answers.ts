/** Answers that run real programs where the model's only say what they would do. The rest of each script is as in the model. */
import type { PsValue } from '../../../src/shell/powershell.ts';
import { jobDeadlineMs } from '../../../src/ssh/deadlines.ts';
import { scriptFile } from '../../../src/templates.ts';
import { filesOf } from '../host/machine.ts';
import { type Answer, ScriptFailure } from '../host/script.ts';
import { commandsOn, type Native } from '../interpreter/commands.ts';
import { interpret } from '../interpreter/interpreter.ts';
import type { RealHost } from './host.ts';
import type { WineResult } from './wine.ts';

/** The host that a machine's programs run on. */
export type RealHostOf = (machine: Parameters<Answer>[0]) => RealHost;

/** The deadline of kubeadm's job. */
const KUBEADM_MS = jobDeadlineMs('kubeadm-join');
const VERSION_MS = 60_000;

const lastOf = (text: string): readonly string[] => text.trimEnd().split(/\r?\n/).slice(-10);

/** Runs a program as Invoke-Native does. @throws ScriptFailure with the end of what it said */
async function native(
  real: RealHost,
  exe: string,
  args: readonly string[],
  how: Parameters<RealHost['run']>[2],
): Promise<readonly string[]> {
  const { status, stdout, stderr } = await real.run(exe, args, how);
  if (status === undefined) throw new Error(`${exe} ${args.join(' ')} did not end in time:\n${stdout}\n${stderr}`);
  if (status !== 0)
    throw new ScriptFailure(
      `${exe} ended with status ${String(status)}: ${[...lastOf(stdout), ...lastOf(stderr)].join('\n')}`,
    );
  return stdout.split(/\r?\n/);
}

interface Asked {
  readonly name: string;
  readonly path: string;
  readonly arguments: readonly string[];
  readonly exits: readonly number[];
}

/** `model`: the answer for what has no real program. Each file is run once: it says the same of its version the next time. */
function probePrograms(of: RealHostOf, model: Answer): Answer {
  const seen = new WeakMap<Buffer, WineResult>();
  return async (machine, params, context) => {
    const real = of(machine);
    const asked = params['Programs'] as unknown as readonly Asked[];
    const modelled = asked.filter(({ path }) => !real.has(path));
    const { programs } = (await model(machine, { ...params, Programs: modelled as unknown as PsValue }, context)) as {
      readonly programs: readonly object[];
    };
    const found: object[] = [...programs];
    for (const { name, path, arguments: args, exits } of asked.filter((one) => real.has(one.path))) {
      const { content } = filesOf(machine).get(path)!;
      const { status, stdout, stderr } = seen.get(content) ?? (await real.run(path, args, { deadlineMs: VERSION_MS }));
      if (status !== undefined) seen.set(content, { status, stdout, stderr });
      const works = status === 0 || exits.includes(status ?? -1);
      const said = works ? stdout : `${path} ended with status ${String(status)}: ${stderr}`;
      found.push({ name, state: works ? 'works' : 'broken', said: said.slice(0, 4096) });
    }
    return { programs: found };
  };
}

/** The script itself, as kbuild sends it: only what its commands do to Windows is the model's, and its programs are real. */
const ownScript =
  (script: Parameters<typeof scriptFile>[0], of: RealHostOf): Answer =>
  async (machine, params, context) => {
    const real = of(machine);
    const before = new Map(context.environment);
    const environment = new Map(before);
    // What the script has set; wine takes Windows' PATH from WINEPATH.
    const own = (): Record<string, string> =>
      Object.fromEntries(
        [...environment]
          .filter(([name, value]) => before.get(name) !== value)
          .map(([name, value]) => [name === 'Path' ? 'WINEPATH' : name, value]),
      );
    const folder = context.workingFolder === undefined ? {} : { folder: context.workingFolder };
    const run: Native = async ({ exe, args, input }) => {
      const how = { ...folder, env: own(), ...(input === undefined ? {} : { input: `${input}\r\n` }) };
      if (!/\\kubeadm\.exe$/i.test(exe)) return native(real, exe, args, { ...how, deadlineMs: VERSION_MS });
      const said = await real.withServices(() => native(real, exe, args, { ...how, deadlineMs: KUBEADM_MS }));
      // kubeadm.exe has started wine's service; the model's follows.
      if (args[0] === 'join') await context.host.startService('kubelet');
      return said;
    };
    let result: unknown;
    const about = { native: run, environment, result: (value: unknown) => void (result = value) };
    await interpret(scriptFile(script), { params, environment, commands: commandsOn(machine, context, about) });
    return result;
  };

/** Scripts that run as they are. */
const OWN = ['windows/kubeadm.ps1', 'windows/kubelet-settings.ps1', 'windows/reserve-source-vip.ps1'] as const;

/** The model's answers, with these in place of its own. */
export const realAnswers = (model: ReadonlyMap<string, Answer>, of: RealHostOf): ReadonlyMap<string, Answer> =>
  new Map([
    ...model,
    ['windows/probe-programs.ps1', probePrograms(of, model.get('windows/probe-programs.ps1')!)],
    ...OWN.map((name): [string, Answer] => [name, ownScript(name, of)]),
  ]);
