import { ScriptFailure, type Answer } from '../script.ts';
import { restartInTime, startInTime, stopInTime } from '../services.ts';

const ACTIONS = { start: startInTime, stop: stopInTime, restart: restartInTime } as const;

export const answer: Answer = async (machine, params, { host }) => {
  const { Name, Action } = params as { Name: string; Action: keyof typeof ACTIONS };
  if (!machine.services.has(Name.toLowerCase()))
    throw new ScriptFailure(`Cannot find any service with service name '${Name}'.`);
  await ACTIONS[Action](machine, host, Name);
  return { state: machine.services.get(Name.toLowerCase())?.state };
};
