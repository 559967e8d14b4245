import type { z } from 'zod';
import type { Command } from '../../shell/command.ts';
import type { Asked, Probe } from '../../shell/probe.ts';

/** A probe of a Windows host: its script ends with one JSON value, which must have the form of `schema`. */
export const windowsProbe = <S extends z.ZodType, T>(
  command: Command<'powershell'>,
  schema: S,
  make: (said: z.output<S>, asked: Asked) => T,
): Probe<T, 'powershell'> => ({
  command,
  parse: (text, asked) => make(schema.parse(JSON.parse(text)), asked),
});
