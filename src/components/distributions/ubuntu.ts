import { debianFamily } from './debian.ts';
import type { Distribution } from './distribution.ts';

export const ubuntu: Distribution = {
  ...debianFamily,
  id: 'ubuntu',
  name: 'Ubuntu',
  versions: ['22.04', '24.04'],
  support: 'supported',
};
