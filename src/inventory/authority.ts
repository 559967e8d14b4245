import { authorityProblem, keyProblem } from '../shell/key-pair.ts';
import type { Certificates } from './control-plane.ts';
import type { Reader, Report } from './reader.ts';
import type { InventoryFile } from './schema.ts';

/** The user's own CA with its key; what kubeadm could not use is reported. undefined where kubeadm makes one. */
export async function ownAuthority(
  reader: Reader,
  { certificates }: InventoryFile,
  report: Report,
): Promise<Certificates['ca']> {
  if (typeof certificates === 'string' || certificates.ca?.key === undefined) return undefined;
  const { cert: file, key: reference } = certificates.ca;
  const path = ['certificates', 'ca'];
  const cert = await reader.text([...path, 'cert'], file);
  const key = await reader.secret([...path, 'key'], reference);
  if (cert === '') return { cert, key };
  const wrong = authorityProblem(cert);
  const unfit = wrong === undefined ? keyProblem(cert, key) : undefined;
  if (wrong !== undefined) report([...path, 'cert'], `${file}: ${wrong}`);
  if (unfit !== undefined) report([...path, 'key'], unfit);
  return { cert, key };
}
