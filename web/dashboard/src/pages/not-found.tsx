import { paths } from '../routes';
import { PageHead } from '../ui/page';

export function NotFound() {
  return (
    <>
      <PageHead title="There is no such page" />
      <p>
        Perhaps the address was cut short. Go to the <a href={paths.overview}>overview</a>.
      </p>
    </>
  );
}
