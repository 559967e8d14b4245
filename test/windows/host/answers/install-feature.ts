import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, { Name }) => {
  const state = machine.features.get(Name as string);
  if (state === undefined)
    throw new ScriptFailure(`ArgumentNotValid: the role or feature '${Name as string}' was not found`);
  if (state === 'Available') {
    machine.features.set(Name as string, 'InstallPending');
    machine.pendingReboot = true;
  }
  return { restartNeeded: machine.features.get(Name as string) === 'InstallPending' };
};
