# Removes the route to 169.254.169.254 that the file Note records, also where it is only kept for the next start, then
# the file.
[CmdletBinding()]
param([Parameter(Mandatory = $true)][string]$Note)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-Routes {
    [CmdletBinding()]
    param()
    foreach ($store in @('ActiveStore', 'PersistentStore')) {
        Find-Existing -Look { Get-NetRoute -DestinationPrefix '169.254.169.254/32' -PolicyStore $store -ErrorAction 'Stop' }
    }
}
$found = @(Get-Routes).Count
# It deletes both. It fails where there is none, and what is left tells.
Invoke-Native -Exe 'route.exe' -Arguments @('delete', '169.254.169.254') -AllowExit @(1) | Out-Null
if (@(Get-Routes).Count -gt 0) { throw 'the route to 169.254.169.254 cannot be deleted: route print shows it' }
if (Test-Path -LiteralPath $Note) { Remove-Item -LiteralPath $Note -Force }
Write-Result -Value @{ removed = $found }
