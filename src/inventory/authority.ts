import { authorityProblem, keyProblem } from '../shell/key-pair.ts';
import type { Authority, OwnAuthorities, Sign } from '../model/control-plane.ts';
import type { Reader, Report } from './reader.ts';
import type { InventoryFile } from './schema.ts';
import type { Sources } from './sources.ts';

type Filter = NonNullable<Sources['filter']>;

/** What an inventory says of one of the user's own authorities. */
type AuthorityFile = NonNullable<Exclude<InventoryFile['certificates'], string>[keyof OwnAuthorities]>;

const noCommands: Filter = () => Promise.reject(new Error('no command may be run'));

/**
 * Makes signers of the user's commands. Each command runs once for each certificate and never twice at a time, also if it signs for
 * several authorities: it may keep a serial number.
 */
function signingCommands(cluster: string, filter: Filter = noCommands): (command: string) => Sign {
  const last = new Map<string, Promise<unknown>>();
  return (command) =>
    ({ host, certificate, profile, request }) => {
      const run = () =>
        filter(command, request, {
          KBUILD_CLUSTER: cluster,
          KBUILD_HOST: host,
          KBUILD_CERTIFICATE: certificate,
          KBUILD_PROFILE: profile,
        });
      const signed = (last.get(command) ?? Promise.resolve()).then(run, run);
      last.set(command, signed);
      return signed;
    };
}

/** One of the user's own authorities, with its key or with the command that signs. Reports one that kubeadm could not use. */
async function authorityAt(
  path: readonly string[],
  { cert: file, key: reference, sign: command }: AuthorityFile,
  {
    reader,
    signer,
    report,
  }: { readonly reader: Reader; readonly signer: (command: string) => Sign; readonly report: Report },
): Promise<Authority | undefined> {
  const cert = await reader.text([...path, 'cert'], file);
  const wrong = cert === '' ? undefined : authorityProblem(cert);
  if (wrong !== undefined) report([...path, 'cert'], `${file}: ${wrong}`);
  if (command !== undefined) return { cert, sign: signer(command) };
  if (reference === undefined) return undefined;
  const key = await reader.secret([...path, 'key'], reference);
  const unfit = cert === '' || wrong !== undefined ? undefined : keyProblem(cert, key);
  if (unfit !== undefined) report([...path, 'key'], unfit);
  return { cert, key };
}

/** The user's own authorities. Reports those that kubeadm could not use. Empty if kubeadm makes all of them. */
export async function ownAuthorities(
  reader: Reader,
  { name, certificates }: InventoryFile,
  { filter }: Sources,
  report: Report,
): Promise<OwnAuthorities> {
  if (typeof certificates === 'string') return {};
  const signer = signingCommands(name, filter);
  const at = async (setting: keyof OwnAuthorities): Promise<OwnAuthorities> => {
    const file = certificates[setting];
    const own =
      file === undefined ? undefined : await authorityAt(['certificates', setting], file, { reader, signer, report });
    return own === undefined ? {} : { [setting]: own };
  };
  return { ...(await at('ca')), ...(await at('etcdCa')), ...(await at('frontProxyCa')) };
}
