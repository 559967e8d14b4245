import { randomBytes } from 'node:crypto';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import { paths } from '../paths.ts';
import type { Remote } from '../remote/remote.ts';
import { Secret } from '../shell/secret.ts';
import { script } from '../templates.ts';
import { clusterConfiguration, initConfiguration, TOKEN_DESCRIPTION } from './kubeadm-config.ts';
import { kubectl } from './kubectl.ts';
import { secretYaml } from './secret-yaml.ts';

/** AES-256: kubeadm takes 32 bytes as hexadecimal digits. */
const KEY_BYTES = 32;

/**
 * Puts the certificates that control planes share into the cluster, encrypted with a key minted for one join; lends the
 * key to `use`; and takes them out again, also after a failure. What a killed run leaves is useless without its key, which
 * nobody kept; the next run deletes it, and kubeadm lets it expire after two hours.
 */
export async function withUploadedCertificates<T>(
  control: Remote<'sh'>,
  inventory: Inventory,
  use: (certificateKey: Secret) => Promise<T>,
  mint: () => string = () => randomBytes(KEY_BYTES).toString('hex'),
): Promise<T> {
  const host = control.host as LinuxHost;
  const certificateKey = Secret.of(mint());
  const tool = kubectl(inventory, host);
  try {
    await control.job(
      'upload-certs',
      script('linux/upload-certs.sh', {
        KUBECTL: tool.join(' '),
        ADMIN_CONF: paths.adminConf,
        DESCRIPTION: `${TOKEN_DESCRIPTION} certificates`,
      }),
      {
        'config.yaml': secretYaml([
          initConfiguration(inventory, host, { certificateKey }),
          clusterConfiguration(inventory),
        ]),
      },
    );
    return await use(certificateKey);
  } finally {
    await control.run(script('linux/delete-uploaded-certs.sh', { KUBECTL: tool.join(' ') }));
  }
}
