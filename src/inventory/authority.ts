import { authorityProblem, keyProblem } from '../shell/key-pair.ts';
import type { Authority, Sign } from '../model/control-plane.ts';
import type { Reader, Report } from './reader.ts';
import type { InventoryFile } from './schema.ts';
import type { Sources } from './sources.ts';

/** Runs the user's signing command, once for each certificate and never twice at a time: it may keep a serial number. */
function signingCommand(command: string, filter: NonNullable<Sources['filter']>): Sign {
  let last: Promise<unknown> = Promise.resolve();
  return ({ host, certificate, profile, request }) => {
    const run = () =>
      filter(command, request, { KBUILD_HOST: host, KBUILD_CERTIFICATE: certificate, KBUILD_PROFILE: profile });
    const signed = last.then(run, run);
    last = signed;
    return signed;
  };
}

/**
 * The user's own CA, with its key or with the command that signs. Reports a CA that kubeadm could not use. undefined if
 * kubeadm makes the CA.
 */
export async function ownAuthority(
  reader: Reader,
  { name, certificates }: InventoryFile,
  { filter }: Sources,
  report: Report,
): Promise<Authority | undefined> {
  if (typeof certificates === 'string' || certificates.ca === undefined) return undefined;
  const { cert: file, key: reference, sign: command } = certificates.ca;
  const path = ['certificates', 'ca'];
  const cert = await reader.text([...path, 'cert'], file);
  const wrong = cert === '' ? undefined : authorityProblem(cert);
  if (wrong !== undefined) report([...path, 'cert'], `${file}: ${wrong}`);
  if (command !== undefined) {
    const noCommands: NonNullable<Sources['filter']> = () => Promise.reject(new Error('no command may be run'));
    return {
      cert,
      sign: signingCommand(command, (text, input, variables) =>
        (filter ?? noCommands)(text, input, { KBUILD_CLUSTER: name, ...variables }),
      ),
    };
  }
  if (reference === undefined) return undefined;
  const key = await reader.secret([...path, 'key'], reference);
  const unfit = cert === '' || wrong !== undefined ? undefined : keyProblem(cert, key);
  if (unfit !== undefined) report([...path, 'key'], unfit);
  return { cert, key };
}
