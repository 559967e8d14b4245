# Observes the registration and state of services. Skips missing services. Names: the services.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
# When the process of a service started, in milliseconds since 1970; 0 where it has none.
function Get-StartTime($Service) {
    $id = [int](Get-Property -Of $Service -Name 'ProcessId')
    if ($id -le 0) { return 0 }
    foreach ($process in @(Get-CimInstance -ClassName 'Win32_Process' -Filter "ProcessId = $id")) {
        return Get-UnixMilliseconds -Time (Get-Property -Of $process -Name 'CreationDate')
    }
    return 0
}
# A service that runs and has no process is between two states: it is read again.
function Get-ServiceNow([string]$Name) {
    foreach ($look in @(1, 2, 3, 4, 5)) {
        $found = @(Get-CimInstance -ClassName 'Win32_Service' -Filter "Name = '$Name'")
        if ($found.Count -eq 0) { return }
        $state = [string](Get-Property -Of $found[0] -Name 'State')
        $startedMs = Get-StartTime $found[0]
        if ($state -ne 'Running' -or $startedMs -gt 0) { return @{ found = $found[0]; state = $state; startedMs = $startedMs } }
        Start-Sleep -Milliseconds 300
    }
    throw "the service $Name runs, and has no process"
}
$services = @()
foreach ($name in $Names) {
    foreach ($service in @(Get-ServiceNow $name)) {
        $key = "HKLM:\SYSTEM\CurrentControlSet\Services\$name"
        $parameters = @()
        if (Test-Path -LiteralPath "$key\Parameters") {
            foreach ($value in @((Get-Item -LiteralPath "$key\Parameters").Property)) {
                $parameters += @{ name = [string]$value; value = "$(Get-RegistryValue -Key "$key\Parameters" -Name $value)" }
            }
        }
        $services += @{
            name = [string](Get-Property -Of $service['found'] -Name 'Name')
            state = $service['state']
            startMode = [string](Get-Property -Of $service['found'] -Name 'StartMode')
            account = [string](Get-Property -Of $service['found'] -Name 'StartName')
            path = "$(Get-RegistryValue -Key $key -Name 'ImagePath')"
            startedMs = $service['startedMs']
            dependsOn = @(@(Get-RegistryValue -Key $key -Name 'DependOnService') | Where-Object -FilterScript { "$_" -ne '' })
            environment = @(@(Get-RegistryValue -Key $key -Name 'Environment') | Where-Object -FilterScript { "$_" -ne '' })
            restarts = $null -ne (Get-RegistryValue -Key $key -Name 'FailureActions')
            parameters = @($parameters)
        }
    }
}
Write-Result -Value @{ services = @($services) }
