import type { z } from 'zod';
import type { Command } from '../shell/command.ts';
import type { Asked, Probe } from '../shell/probe.ts';

/** A probe of a Windows host. Its script returns one JSON value. `parse` throws if `schema` does not accept it. */
export const windowsProbe = <S extends z.ZodType, T>(
  command: Command<'powershell'>,
  schema: S,
  make: (answer: z.output<S>, asked: Asked) => T,
): Probe<T, 'powershell'> => ({
  command,
  parse: (text, asked) => make(schema.parse(JSON.parse(text)), asked),
});
