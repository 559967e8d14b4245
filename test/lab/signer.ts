/** A certificate authority whose key only a test knows, and the command that signs with it, as a user's would. */
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as lab from './lab.ts';
import { makeAuthority, type KeyPair } from './openssl.ts';
import { requestAgain, signOld } from './old-certificate.ts';

/** What a signer does wrong: signs with another authority, certifies another key, or does not sign at all. */
export type Lie = 'another-authority' | 'another-key' | 'locked';

/** A signing command and what it was asked for. */
export interface Signer {
  readonly authority: KeyPair;
  readonly command: string;
  /** Lines of `cluster host certificate profile`, in the order of asking. */
  readonly asked: () => readonly string[];
  /** From now on it lies; without a lie it is honest again. */
  readonly lie: (lie?: Lie) => void;
  /** Signs a request so that the certificate began long ago and ends in so many days. */
  readonly old: (request: string, daysLeft: number) => Promise<string>;
}

const SCRIPT = `#!/bin/sh
set -eu
cd "$(dirname "$0")"
echo "$KBUILD_CLUSTER $KBUILD_HOST $KBUILD_CERTIFICATE $KBUILD_PROFILE" >>asked
cat >request.csr
lie=$(cat lie 2>/dev/null || echo none)
ca=vault
case $lie in
  locked) echo 'the token is locked' >&2; exit 3 ;;
  another-authority) ca=another ;;
  another-key)
    openssl req -new -newkey rsa:2048 -nodes -keyout thrown-away.key -subj "/CN=$KBUILD_CERTIFICATE" -out request.csr 2>/dev/null ;;
esac
case $KBUILD_PROFILE in peer) usages=serverAuth,clientAuth ;; *) usages=\${KBUILD_PROFILE}Auth ;; esac
printf 'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature,keyEncipherment\nextendedKeyUsage=%s\n' "$usages" >extensions
openssl x509 -req -in request.csr -CA $ca.crt -CAkey $ca.key -CAcreateserial -days 365 -copy_extensions copy -extfile extensions
`;

/** Makes the authority and its signing command in a folder. */
export async function makeSigner(folder: string): Promise<Signer> {
  const authority = await makeAuthority(folder, 'vault');
  await makeAuthority(folder, 'another');
  const file = (name: string): string => join(folder, name);
  writeFileSync(file('sign'), SCRIPT);
  chmodSync(file('sign'), 0o700);
  return {
    authority,
    command: file('sign'),
    asked: () => readFileSync(file('asked'), 'utf8').trim().split('\n'),
    lie: (lie) => (lie === undefined ? rmSync(file('lie'), { force: true }) : writeFileSync(file('lie'), lie)),
    old: (request, daysLeft) => signOld(authority, request, daysLeft),
  };
}

const PKI = '/etc/kubernetes/pki';

/** Puts an old certificate in the place of one below a host's /etc/kubernetes/pki, e.g. `etcd/server`. */
export async function ageLeaf(
  signer: Pick<Signer, 'old'>,
  host: string,
  name: string,
  daysLeft: number,
): Promise<void> {
  const [certificate, key] = await Promise.all(
    ['crt', 'key'].map(async (end) => (await lab.inside(host, `cat ${PKI}/${name}.${end}`)).stdout),
  );
  const old = await signer.old(await requestAgain(certificate!, key!), daysLeft);
  await lab.inside(host, `cat > ${PKI}/${name}.crt`, old);
}

/** The same for the certificate of a host's API server. */
export const ageApiServer = (signer: Pick<Signer, 'old'>, host: string, daysLeft: number): Promise<void> =>
  ageLeaf(signer, host, 'apiserver', daysLeft);

/** Puts an old certificate into a kubeconfig of a host. */
export async function ageKubeconfig(
  signer: Pick<Signer, 'old'>,
  host: string,
  name: string,
  daysLeft: number,
): Promise<void> {
  const data = async (what: string) =>
    (await lab.inside(host, `sed -n 's/^ *client-${what}-data: *//p' /etc/kubernetes/${name} | base64 -d`)).stdout;
  const old = await signer.old(await requestAgain(await data('certificate'), await data('key')), daysLeft);
  await lab.inside(
    host,
    `cat > /run/old.crt && sed -i "s|client-certificate-data: .*|client-certificate-data: $(base64 -w 0 /run/old.crt)|" /etc/kubernetes/${name}`,
    old,
  );
}

/** Puts an old certificate into a kubelet's store and starts it again: it then asks for its next one at once. */
export async function ageKubelet(signer: Pick<Signer, 'old'>, host: string, daysLeft: number): Promise<void> {
  const pem = (await lab.inside(host, 'cat /var/lib/kubelet/pki/kubelet-client-current.pem')).stdout;
  const at = pem.indexOf('-----BEGIN', 10);
  const old = await signer.old(await requestAgain(pem.slice(0, at), pem.slice(at)), daysLeft);
  await lab.inside(
    host,
    'cat > /var/lib/kubelet/pki/kubelet-client-current.pem && systemctl restart kubelet',
    `${old}${pem.slice(at)}`,
  );
}
