import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => ({
  services: (Names as readonly string[]).flatMap((name) => {
    const service = machine.services.get(name.toLowerCase());
    if (service === undefined) return [];
    if (service.state === 'Running' && service.startedMs === 0)
      throw new ScriptFailure(`the service ${name} runs, and has no process`);
    const parameters = Object.entries(service.parameters).map(([key, value]) => ({ name: key, value }));
    // As Win32_Service spells it: Get-Service has no blank.
    const state = service.state.replace('Pending', ' Pending');
    const startedMs = ['Running', 'Paused'].includes(service.state) ? service.startedMs : 0;
    return [{ ...service, state, startedMs, parameters }];
  }),
});
