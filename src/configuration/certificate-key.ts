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
 * Uploads the certificates that control planes share, encrypted with a key for one join; calls `use` with the key; and
 * deletes them afterwards, also after a failure. The certificates of a killed run are useless without its key, which is
 * stored nowhere. The next run deletes them, and kubeadm lets them expire after two hours.
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
