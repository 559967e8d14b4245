import type { Answer } from '../script.ts';

export const answer: Answer = (machine, { Names }) => ({
  services: (Names as readonly string[]).flatMap((name) => {
    const service = machine.services.get(name.toLowerCase());
    if (service === undefined) return [];
    const parameters = Object.entries(service.parameters).map(([key, value]) => ({ name: key, value }));
    return [{ ...service, parameters }];
  }),
});
