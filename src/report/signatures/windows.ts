import { windowsSignatures } from '../../windows/signatures.ts';
import type { Signature } from './signature.ts';

/** What programs of Windows workers say. */
export const windowsSaid: readonly Signature[] = windowsSignatures.flatMap(({ name, said, cause, remedy }) =>
  said === undefined ? [] : [{ name: `windows-${name}`, seen: said, cause, remedy }],
);
