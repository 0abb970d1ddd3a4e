import { PageHead } from '../ui/page';

export function Overview() {
  return <PageHead title="Overview" />;
}
