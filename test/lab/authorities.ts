/** What hosts trust, and what kubeadm says of it. */
import * as lab from './lab.ts';

/** What a host shows of the cluster's CA: in ca.crt, and in its kubeconfigs; the common names in their order. */
export async function trustedBy(host: string): Promise<Readonly<Record<string, string>>> {
  const names = `openssl crl2pkcs7 -nocrl -certfile /dev/stdin 2>/dev/null | openssl pkcs7 -print_certs -noout | sed -n "s/^subject=.*CN *= *//p" | tr "\\n" " "`;
  const { stdout } = await lab.inside(
    host,
    `cd /etc/kubernetes; echo "ca.crt: $(cat pki/ca.crt | ${names})"
     for conf in *.conf; do echo "$conf: $(sed -n 's/^ *certificate-authority-data: *//p' "$conf" | base64 -d | ${names})"; done`,
  );
  return Object.fromEntries(
    stdout
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
}

/** What kubeadm says of a host's certificates: name and end. */
export async function byKubeadm(host: string): Promise<readonly string[]> {
  const { stdout } = await lab.inside(host, 'kubeadm certs check-expiration -o json 2>/dev/null');
  const said = JSON.parse(stdout) as Record<
    'certificates' | 'certificateAuthorities',
    readonly { readonly name: string; readonly expirationDate: string; readonly missing?: boolean }[]
  >;
  return [...said.certificates, ...said.certificateAuthorities]
    .filter(({ missing }) => missing !== true)
    .map(({ name, expirationDate }) => `${name} ${new Date(expirationDate).toISOString()}`)
    .sort();
}

/** The same, by `kbuild certs --json`. */
export function byKbuild(stdout: string, host: string): readonly string[] {
  const { certificates } = JSON.parse(stdout) as {
    readonly certificates: readonly { readonly host: string; readonly name: string; readonly expires: string }[];
  };
  return certificates
    .filter((one) => one.host === host && !one.name.startsWith('kubelet'))
    .map(({ name, expires }) => `${name} ${expires}`)
    .sort();
}
