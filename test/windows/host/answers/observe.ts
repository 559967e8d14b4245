import type { PsValue } from '../../../../src/shell/powershell.ts';
import { ScriptFailure, type Answer } from '../script.ts';
import { bindingProblem } from '../parameters.ts';

interface Probe {
  readonly fact: string;
  readonly name: string;
  readonly script: string;
  readonly params: Readonly<Record<string, PsValue>>;
}

export const answer: Answer = async (machine, params, context) => {
  const answers: Record<string, { ok: string } | { failed: string }> = {};
  if (!machine.administrator) return { administrator: false, answers };
  const known = context.host.answers;
  for (const { fact, name, script, params: given } of params['Probes'] as unknown as readonly Probe[]) {
    const one = known.get(name);
    if (one === undefined) throw new Error(`no answer for ${name}: test/windows/host/answers has none`);
    const problem = bindingProblem(script, Object.keys(given));
    try {
      if (problem !== undefined) throw new ScriptFailure(problem);
      answers[fact] = { ok: JSON.stringify((await one(machine, given, context)) ?? null) };
    } catch (error) {
      if (!(error instanceof ScriptFailure)) throw error;
      answers[fact] = { failed: error.message };
    }
  }
  return { administrator: true, answers };
};
