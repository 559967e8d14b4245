import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = async (machine, params, { host }) => {
  const { Name, Action } = params as Record<string, string>;
  if (!machine.services.has(Name!.toLowerCase()))
    throw new ScriptFailure(`Cannot find any service with service name '${Name!}'.`);
  if (Action !== 'start') await host.stopService(Name!);
  if (Action !== 'stop') await host.startService(Name!);
  return { state: machine.services.get(Name!.toLowerCase())?.state };
};
